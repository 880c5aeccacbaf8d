/** Fewer characters of base64 stand in many a text by chance. */
const SHORTEST_BASE64 = 8;

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const inAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What base64 makes of bytes wherever they stand among others, such as behind `user:`: less what it mixes with those. */
const base64Within = (bytes: Buffer): string[] =>
  [0, 1, 2].flatMap((before) => {
    const bits = (before + bytes.length) * 8;
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const own = whole.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
    return own.length < SHORTEST_BASE64 ? [] : [own];
  });

/** The ways in which a value may stand in a text: as it is, and as JSON, addresses, forms and base64 have it. */
export function formsOf(value: string): Set<string> {
  const whole = value.toWellFormed();
  const bytes = Buffer.from(value);
  const base64 = [bytes.toString("base64"), ...base64Within(bytes)];
  return new Set([
    value,
    inJson(value),
    inJson(inJson(value)),
    inAscii(inJson(value)),
    encodeURIComponent(whole),
    new URLSearchParams([["", whole]]).toString().slice(1),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")),
  ]);
}
