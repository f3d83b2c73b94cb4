/**
 * Acceptance: every answer passes the same checks before it is cached, counted as right, or handed to a tool runner.
 *
 * Needs ajv: `npm install ajv ajv-formats`.
 *
 * @packageDocumentation
 */

import { type Envelope, NotAnEnvelope, type ToolCall, openaiEnvelope } from "./envelopes.js";
import { type JsonSchema, type Validator, validator } from "./json-schemas.js";
import { CallFailed } from "./seen.js";

export { anthropicEnvelope, NotAnEnvelope, openaiEnvelope, type Envelope, type ToolCall } from "./envelopes.js";
export type { JsonSchema } from "./json-schemas.js";

/** A check of the caller's own: what is wrong, in words that hold nothing of the answer, or nothing. */
export type Check = (envelope: Envelope) => string | null | undefined;

/** What is checked. */
export interface AcceptanceOptions {
  /** The JSON Schema that the text must be of, as the request was made with; without one it is free text. */
  readonly schema?: JsonSchema | undefined;
  /** The schemas of the arguments of the tools that may be called, by name; null for one that takes free text. */
  readonly tools?: Readonly<Record<string, JsonSchema | null>> | undefined;
  /** Whether an answer that was cut off by a limit is refused; it is where this is left out. */
  readonly whole?: boolean | undefined;
  /** What else must hold. */
  readonly checks?: readonly Check[] | undefined;
  /** How the API's answers are read: `openaiEnvelope` where left out, `anthropicEnvelope`, or one of your own. */
  readonly envelope?: ((answer: unknown) => Envelope) | undefined;
}

/**
 * The checks of one kind of request, to be given to `run` as `accept`.
 *
 * In order: the envelope parses; the answer is not cut off; structured output is of its schema; tools are registered and
 * their arguments are of each tool's schema; the caller's own checks. White space around JSON is all that is forgiven. What
 * it says of an answer holds no words of it, since it is reported. It throws {@link CallFailed} where the endpoint refuses
 * to speak of this, which ends the run.
 *
 * @throws TypeError where a schema is none, or is of a draft that is not known here
 */
export function acceptance(options: AcceptanceOptions = {}): (answer: unknown) => string {
  const { whole = true, envelope: read = openaiEnvelope, checks = [] } = options;
  const steps = [textCheck(options.schema), toolsCheck(options.tools ?? {}), ...checks];
  return (answer) => {
    const envelope = readOrUndefined(read, answer);
    if (envelope === undefined) return "the envelope does not parse";
    if (envelope.refused) throw CallFailed.contentRefused();
    if (whole && envelope.truncated) return "the answer is cut off";
    for (const check of steps) {
      const wrong = check(envelope) ?? "";
      if (wrong !== "") return wrong;
    }
    return "";
  };
}

function readOrUndefined(read: (answer: unknown) => Envelope, answer: unknown): Envelope | undefined {
  try {
    return read(answer);
  } catch (error) {
    if (error instanceof NotAnEnvelope) return undefined;
    throw error;
  }
}

function textCheck(schema: JsonSchema | undefined): Check {
  if (schema === undefined) return () => "";
  const validate = validator(schema, "schema");
  // An answer that calls tools instead has no text to be of the schema.
  return ({ text, toolCalls }) =>
    toolCalls.length > 0 && text.trim() === "" ? "" : wrongJson(validate, text, "the answer");
}

function toolsCheck(tools: Readonly<Record<string, JsonSchema | null>>): Check {
  const validators = new Map(
    Object.entries(tools).map(([name, one]) => [name, one === null ? null : validator(one, `tools.${name}`)]),
  );
  const wrongCall = ({ name, arguments: given }: ToolCall): string => {
    const validate = validators.get(name);
    if (validate === undefined) return "a tool that is not registered";
    const what = `the arguments of ${name}`;
    if (validate === null) return typeof given === "string" ? "" : `${what}: no text`;
    return wrongJson(validate, given, what);
  };
  return ({ toolCalls }) => toolCalls.map(wrongCall).find((wrong) => wrong !== "");
}

/** What is wrong with JSON, told by the place in the schema: a message of ajv's would quote the answer. */
function wrongJson(validate: Validator, given: unknown, what: string): string {
  let value = given;
  if (typeof given === "string") {
    try {
      value = JSON.parse(given.trim());
    } catch {
      return `${what}: no JSON`;
    }
  }
  try {
    const place = validate(value);
    return place === undefined ? "" : `${what}: not of its schema at ${place}`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${what}: nested too deeply, or its schema refers to itself without an end`;
  }
}
