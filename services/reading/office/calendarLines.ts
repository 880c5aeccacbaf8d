/* The lines of a calendar (RFC 5545). */

/** A property: `ATTENDEE;CN="Ada":mailto:ada@a.example`. Names are in capitals. */
export interface CalendarProperty {
  name: string;
  parameters: ReadonlyMap<string, string>;
  /** The raw value, with its escapes. */
  value: string;
}

const VALUE = String.raw`(?:"[^"]*"|[^";:,]*)`;
const LINE = new RegExp(String.raw`^([\w-]+)((?:;[\w-]+=${VALUE}(?:,${VALUE})*)*):(.*)$`, "s");
const PARAMETER = new RegExp(String.raw`;([\w-]+)=(${VALUE}(?:,${VALUE})*)`, "g");

/** The property of a complete line; undefined if it is none. */
export const readProperty = (line: string): CalendarProperty | undefined => {
  const [, name, parameters = "", value = ""] = LINE.exec(line) ?? [];
  if (name === undefined) return undefined;
  const read = parameters
    .matchAll(PARAMETER)
    .map(([, key = "", own = ""]) => [key.toUpperCase(), own.replaceAll('"', "")] as const);
  return { name: name.toUpperCase(), parameters: new Map(read), value };
};

/** A line that begins with a space continues the previous line. */
export const unfoldLines = (text: string): string[] =>
  text
    .replace(/\r?\n[ \t]/g, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");

/** A text without its escapes; `\n` is a line break. */
export const readText = (value: string): string =>
  value.replace(/\\([\\;,nN])/g, (_, sign: string) => (sign.toLowerCase() === "n" ? "\n" : sign));
