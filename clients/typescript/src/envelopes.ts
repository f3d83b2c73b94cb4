// What an answer of a provider's API holds, as acceptance looks at it.

/** Thrown where an answer does not have the form that its API gives answers. */
export class NotAnEnvelope extends Error {
  override readonly name = "NotAnEnvelope";
}

/** A tool that the model wants called. */
export interface ToolCall {
  /** The name of the tool. */
  readonly name: string;
  /** As they came: JSON text, what it stands for, or free text. */
  readonly arguments: unknown;
}

/** What an answer holds. */
export interface Envelope {
  /** The text. */
  readonly text: string;
  /** The tools that the model wants called. */
  readonly toolCalls: readonly ToolCall[];
  /** Whether it was cut off by a limit of tokens. */
  readonly truncated: boolean;
  /** Whether a filter or the model refused to speak of this. */
  readonly refused: boolean;
}

/**
 * A chat completion of OpenAI's API and of all that are alike: its first choice.
 *
 * @param answer - the object, or its JSON as text or bytes
 * @throws NotAnEnvelope
 */
export function openaiEnvelope(answer: unknown): Envelope {
  const choice = object(list(parsedObject(answer)["choices"])[0]);
  const message = object(choice["message"]);
  const toolCalls = list(message["tool_calls"] ?? []).map(openaiCall);
  const ended = choice["finish_reason"];
  return {
    text: string(message["content"] ?? ""),
    toolCalls,
    truncated: ended === "length",
    refused: ended === "content_filter" || Boolean(message["refusal"]),
  };
}

/** A call of a function with arguments, or of a custom tool that takes text. */
function openaiCall(call: unknown): ToolCall {
  const { type, custom, function: called } = object(call);
  const [tool, place] = type === "custom" ? [object(custom), "input"] : [object(called), "arguments"];
  if (tool[place] === undefined) throw new NotAnEnvelope();
  return { name: string(tool["name"]), arguments: tool[place] };
}

/**
 * A message of Anthropic's API.
 *
 * @param answer - the object, or its JSON as text or bytes
 * @throws NotAnEnvelope
 */
export function anthropicEnvelope(answer: unknown): Envelope {
  const message = parsedObject(answer);
  const blocks = list(message["content"]).map(object);
  const ended = message["stop_reason"];
  return {
    text: blocks.map((one) => (one["type"] === "text" ? string(one["text"]) : "")).join(""),
    toolCalls: blocks
      .filter((one) => one["type"] === "tool_use")
      .map((one) => ({ name: string(one["name"]), arguments: object(one["input"]) })),
    truncated: ended === "max_tokens" || ended === "model_context_window_exceeded",
    refused: ended === "refusal",
  };
}

function parsedObject(answer: unknown): Record<string, unknown> {
  const text = answer instanceof Uint8Array ? new TextDecoder().decode(answer) : answer;
  if (typeof text !== "string") return object(text);
  try {
    return object(JSON.parse(text));
  } catch (cause) {
    throw new NotAnEnvelope(undefined, { cause });
  }
}

function object(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new NotAnEnvelope();
  return value as Record<string, unknown>;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new NotAnEnvelope();
  return value;
}

function string(value: unknown): string {
  if (typeof value !== "string") throw new NotAnEnvelope();
  return value;
}
