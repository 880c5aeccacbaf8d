/** A request of runStep or runStepMany. */
export interface StepRequest {
  /** The whole request as text. */
  text: string;
  isMany: boolean;
  mode: "fail" | "return";
  name: string;
  userKey: string | null;
  /** JSON of the arguments, or of the items. */
  json: string;
}

/** Parses the text of a request, such as `step:fail:1:-:a{…}`: lengths of name and key ("-" for no key), then name, key and JSON. */
export function parseStepRequest(text: string): StepRequest {
  const [start, kind, mode, nameLength, keyLength] = /^(\w+):(\w+):(\d+):(\d+|-):/.exec(text)!;
  const nameEnd = start.length + Number(nameLength);
  const keyEnd = nameEnd + (keyLength === "-" ? 0 : Number(keyLength));
  return {
    text,
    isMany: kind === "many",
    mode: mode === "return" ? "return" : "fail",
    name: text.slice(start.length, nameEnd),
    userKey: keyLength === "-" ? null : text.slice(nameEnd, keyEnd),
    json: text.slice(keyEnd),
  };
}
