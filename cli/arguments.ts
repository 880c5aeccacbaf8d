import { InvalidArgumentError } from "commander";
import { MAX_ORGANIZATION_NAME } from "#events/organization.ts";

/** The option of commands that call a running service. */
export const SERVICE_URL = [
  "--url <url>",
  "the service's address (SVC_URL); SVC_EMAIL and SVC_PASSWORD, or SVC_SESSION, sign in",
] as const;

/** A comma-separated list of words. */
export const parseList =
  <Word extends string>(words: readonly Word[]) =>
  (text: string): Word[] => {
    const named = text.split(",").map((word) => word.trim() as Word);
    if (named.every((word) => words.includes(word))) return named;
    throw new InvalidArgumentError(`It must name some of ${words.join(", ")}, separated by commas.`);
  };

export const parseWholeNumber =
  (min: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < min)
      throw new InvalidArgumentError(`It must be a whole number, ${min} or more.`);
    return number;
  };

/** `POSITION:HASH`, as `svc log verify` prints it. */
export function parseLogTip(text: string): { position: number; hash: string } {
  const [, position, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (position === undefined || hash === undefined)
    throw new InvalidArgumentError("It must be POSITION:HASH as svc log verify prints it.");
  return { position: Number(position), hash: hash.toLowerCase() };
}

export function parseUuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError("It must be an id, a UUID.");
  return text;
}

/** A path of a file or a folder. An empty one is refused: it comes from an unset shell variable and would mean something else. */
export function parsePath(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must name a file or a folder, and is empty.");
  return text;
}

export function parseOrganizationName(text: string): string {
  const name = text.trim();
  if (name.length > 0 && name.length <= MAX_ORGANIZATION_NAME) return name;
  throw new InvalidArgumentError(`It must have 1 to ${MAX_ORGANIZATION_NAME} characters.`);
}
