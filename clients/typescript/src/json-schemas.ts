// JSON Schemas: which draft one is of, and where a value is not of it.

import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats, { type FormatsPluginOptions } from "ajv-formats";

/** A JSON Schema of draft 2020-12, as one without `$schema` is, or of draft-07. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Where a value is not of a schema, as a place in the schema: `/properties/total/type`; undefined where it is. */
export type Validator = (value: unknown) => string | undefined;

// What a schema says beside the words of its draft is no fault of it, and nothing is written to the console.
const OPTIONS: Options = { strict: false, validateFormats: true, logger: false };
const FORMATS: FormatsPluginOptions = { mode: "full" };

const DRAFTS: Readonly<Record<string, new (options: Options) => Ajv>> = {
  "https://json-schema.org/draft/2020-12/schema": Ajv2020,
  "http://json-schema.org/draft-07/schema": Ajv,
};
const [NEWEST = ""] = Object.keys(DRAFTS);

/** What checks values by the schema. Throws TypeError where it is none, with what is wrong and the `name`. */
export function validator(schema: JsonSchema, name: string): Validator {
  const draft = schema["$schema"] ?? NEWEST;
  const Draft = typeof draft === "string" ? DRAFTS[draft.replace(/#$/, "")] : undefined;
  if (Draft === undefined) {
    const known = Object.keys(DRAFTS).join(" or ");
    throw new TypeError(`${name}: $schema is ${JSON.stringify(draft)}; use ${known}`);
  }
  const validate = compiled(new Draft(OPTIONS), schema, name);
  return (value) => (validate(value) ? undefined : validate.errors?.[0]?.schemaPath.replace(/^#/, ""));
}

function compiled(ajv: Ajv, schema: JsonSchema, name: string): ValidateFunction {
  try {
    formats.default(ajv, FORMATS);
    return ajv.compile(schema);
  } catch (cause) {
    throw new TypeError(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
