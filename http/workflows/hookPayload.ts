import type { IncomingHttpHeaders } from "node:http";
import { ApiError } from "../base/errors.ts";
import { isObject } from "#events/json.ts";
import { parseDelivery } from "../base/json.ts";
import { formFields } from "./formFields.ts";
import type { SignedRequest } from "./hookSignature.ts";
import { holdsCredential } from "./triggerShape.ts";

const isForm = (headers: IncomingHttpHeaders): boolean =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(headers["content-type"] ?? "");

/** Reads the fields of a form. A repeated field becomes a list of values. */
function readForm(body: Buffer): Record<string, unknown> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of formFields(body)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

/**
 * Reads a signed payload: JSON or a form. A form whose only field is `payload` contains JSON (GitHub, Slack). Throws 400
 * `invalid_json`, `invalid_payload`.
 */
export function readSignedPayload({ headers, body }: SignedRequest): unknown {
  if (body.length === 0) return {};
  if (!isForm(headers)) return parseDelivery(body);
  const form = readForm(body);
  const { payload, ...others } = form;
  const isWrapped = typeof payload === "string" && Object.keys(others).length === 0;
  return isWrapped ? parseDelivery(Buffer.from(payload)) : form;
}

/** The trigger's default arguments, overridden by the top-level fields of the payload. A list becomes the argument `payload`. */
export function mergeArgs(default_args: string, payload: unknown, allowsList: boolean): Record<string, unknown> {
  const fields = allowsList && Array.isArray(payload) ? { payload } : payload;
  if (!isObject(fields)) throw new ApiError("invalid_payload", "The payload must be a JSON object.");
  // both come from JSON.parse: a spread copies `__proto__` as a plain property and never sets the prototype
  return { ...(JSON.parse(default_args) as object), ...fields };
}

/**
 * The request headers that the trigger passes to `run()`. Headers that were not sent are left out, and those with a credential,
 * which triggers of earlier releases may name.
 */
export const pickHeaders = (headers: IncomingHttpHeaders, names: string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) =>
      headers[name] === undefined || holdsCredential(name) ? [] : [[name, String(headers[name])]],
    ),
  );
