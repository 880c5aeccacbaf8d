import { createHash } from "node:crypto";
import { formFields } from "./formFields.ts";

/** The query parameter with which Twilio signs a body that is not a form. */
const BODY_HASH = /[?&]bodySHA256=([0-9a-f]{64})(&|$)/i;

/** The address with and without a port: Twilio may sign either, whichever was configured. */
function withAndWithoutPort(url: string): string[] {
  const [, scheme, host, port, rest] = /^(https?):\/\/([^/?]+?)(:\d+)?([/?].*)$/.exec(url) ?? [];
  if (scheme === undefined) return [url];
  const standard = scheme === "https" ? ":443" : ":80";
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}${port ?? standard}${rest}`];
}

/** Names with their values, sorted by name, then by value, without duplicates. */
function sortedFields(form: Buffer): string {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of formFields(form)) {
    const known = values.get(name);
    if (known) known.add(value);
    else values.set(name, new Set([value]));
  }
  const names = [...values.keys()].toSorted();
  return names.flatMap((name) => [...values.get(name)!].toSorted().map((value) => name + value)).join("");
}

/**
 * The texts that Twilio may have signed: the address followed by the form's fields. For other bodies the address contains the
 * body's hash; if that hash is wrong, there is no valid text. Throws 400 `invalid_payload` for a form with too many fields.
 */
export function twilioTexts({ url, body }: { url: string; body: Buffer }): string[] {
  const hash = BODY_HASH.exec(url)?.[1];
  if (hash === undefined) {
    const fields = sortedFields(body);
    return withAndWithoutPort(url).map((address) => address + fields);
  }
  const isOfBody = hash.toLowerCase() === createHash("sha256").update(body).digest("hex");
  return isOfBody ? withAndWithoutPort(url) : [];
}
