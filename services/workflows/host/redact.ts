/** Shorter values are no secrets, and stand in every text. */
const SHORTEST = 4;
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

/** The ways in which a value may stand in a text. */
function formsOf(value: string): string[] {
  const whole = value.toWellFormed();
  const bytes = Buffer.from(value);
  const base64 = [bytes.toString("base64"), ...base64Within(bytes)];
  return [
    value,
    inJson(value),
    inJson(inJson(value)),
    inAscii(inJson(value)),
    encodeURIComponent(whole),
    new URLSearchParams([["", whole]]).toString().slice(1),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")),
  ];
}

export interface Redactor {
  add(name: string, value: string): void;
  /** Names of what was added, each once. */
  names(): string[];
  /** The text with `[secret NAME]` in place of each value, however it is encoded. */
  text(text: string): string;
  /** The same for JSON, which stays JSON: a scalar that is a value becomes a string. */
  json(json: string): string;
}

/** Every string of a JSON text, and every other scalar. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"{}[\],:]+/gs;

/** Takes secrets out of what leaves the step that was told them. */
export function createRedactor(): Redactor {
  const names = new Set<string>();
  const forms = new Map<string, string>();
  let pattern: RegExp | undefined;

  // the longest first: one secret may be a part of another
  const compiled = (): RegExp =>
    (pattern ??= new RegExp(
      [...forms.keys()]
        .toSorted((a, b) => b.length - a.length)
        .map(RegExp.escape)
        .join("|"),
      "g",
    ));
  const text = (from: string): string =>
    forms.size === 0 ? from : from.replace(compiled(), (form) => `[secret ${forms.get(form)}]`);

  return {
    names: () => [...names],
    add(name, value) {
      names.add(name);
      if (value.length < SHORTEST) return;
      for (const form of formsOf(value)) if (!forms.has(form)) forms.set(form, name);
      pattern = undefined;
    },
    text,
    json(json) {
      if (forms.size === 0) return json;
      return json.replace(TOKENS, (token) => {
        const told = token.startsWith('"') ? (JSON.parse(token) as string) : token;
        const left = text(told);
        return left === told ? token : JSON.stringify(left);
      });
    },
  };
}
