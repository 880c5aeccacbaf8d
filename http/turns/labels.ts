import type { IncomingHttpHeaders } from "node:http";
import { LABEL_NAME, LABEL_VALUE, MAX_LABELS, type Labels } from "#events/labels.ts";
import { ApiError } from "../base/errors.ts";

const HEADER = "x-labels";
const refuse = (message: string): ApiError => new ApiError(null, `${HEADER}: ${message}`, { param: HEADER });

/**
 * Reads the labels of a request, such as `x-labels: team=search, feature=summary`. Undefined if there are none. Throws a 400 that
 * names the invalid part.
 */
export function readLabels(headers: IncomingHttpHeaders): Labels | undefined {
  const raw = headers[HEADER];
  const pairs = [raw ?? []]
    .flat()
    .flatMap((one) => one.split(","))
    .map((pair) => pair.trim())
    .filter((pair) => pair !== "");
  if (pairs.length === 0) return undefined;
  if (pairs.length > MAX_LABELS) throw refuse(`must have at most ${MAX_LABELS} labels.`);
  const labels: Labels = {};
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, Math.max(0, at)), pair.slice(at + 1)];
    if (!LABEL_NAME.test(name))
      throw refuse("each label must be name=value, and a name 1 to 32 of a-z, 0-9, _ and -, a letter first.");
    if (!LABEL_VALUE.test(value)) throw refuse(`the value of ${name} must be 1 to 64 of A-Z, a-z, 0-9 and . _ : / -`);
    if (Object.hasOwn(labels, name)) throw refuse(`${name} is there twice.`);
    labels[name] = value;
  }
  return labels;
}
