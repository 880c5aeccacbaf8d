import { InvalidArgumentError } from "commander";

export const wholeNumber =
  (min: number) =>
  (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < min)
      throw new InvalidArgumentError(`It must be a whole number, ${min} or more.`);
    return number;
  };

/** `POSITION:HASH`, as `svc log verify` prints it. */
export function tip(text: string): { position: number; hash: string } {
  const [, position, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (position === undefined || hash === undefined)
    throw new InvalidArgumentError("It must be POSITION:HASH as svc log verify prints it.");
  return { position: Number(position), hash: hash.toLowerCase() };
}

export function uuid(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError("It must be an organization's id, a UUID.");
  return text;
}
