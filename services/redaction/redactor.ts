import { setImmediate } from "node:timers/promises";
import { createFormFinder, SLICE, type FormReplacer } from "./formFinder.ts";
import { secretForms } from "./secretForms.ts";

/** Shorter values occur in ordinary text and cannot be secrets. */
const MIN_SECRET_LENGTH = 4;
/** Marks per result that name their secret. Further marks have no name and are shorter than any secret, so that no result grows without limit. */
const MAX_NAMED_MARKS = 1_000;

/** Lets other work run while it redacts long texts. */
export interface Redactor {
  add(name: string, value: string): void;
  /** Names of the added secrets, without duplicates. */
  names(): string[];
  /** Replaces each secret with `[secret NAME]`, in all its encodings. */
  text(text: string): Promise<string>;
  /** Redacts JSON, which stays valid: a number, `true`, `false` or `null` that is a secret becomes a string. */
  json(json: string): Promise<string>;
}

const QUOTE = 34;
const BACKSLASH = 92;
/** The characters that separate scalars in JSON: white space, punctuation and quotes. */
const SEPARATORS = new Set(Array.from(' \n\r\t{}[],:"', (character) => character.charCodeAt(0)));

/** Index of the quote that ends the string beginning at `quote`. */
function endOfString(json: string, quote: number): number {
  let at = quote + 1;
  for (let code = json.charCodeAt(at); code !== QUOTE && at < json.length; code = json.charCodeAt(at))
    at += code === BACKSLASH ? 2 : 1;
  return at + 1;
}

function endOfScalar(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && !SEPARATORS.has(json.charCodeAt(at))) at += 1;
  return at;
}

/** Most strings have no escapes. */
const readString = (token: string): string =>
  token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);

type Mark = (name: string) => string;

const replaceIn = ({ short, long }: FormReplacer, text: string, mark: Mark): string | Promise<string> =>
  text.length > SLICE ? long(text, mark) : short(text, mark);

/** Redacts every string of a JSON text, and every other scalar that is not shorter than a secret. */
async function replaceScalars(json: string, replacer: FormReplacer, mark: Mark): Promise<string> {
  const parts: string[] = [];
  let [copied, paused] = [0, 0];
  for (let at = 0; at < json.length; ) {
    if (at - paused > SLICE) {
      await setImmediate();
      paused = at;
    }
    const isString = json.charCodeAt(at) === QUOTE;
    if (!isString && SEPARATORS.has(json.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = isString ? endOfString(json, at) : endOfScalar(json, at);
    const token = json.slice(at, end);
    if (token.length >= MIN_SECRET_LENGTH) {
      const plain = isString ? readString(token) : token;
      const replacement = replaceIn(replacer, plain, mark);
      const replaced = typeof replacement === "string" ? replacement : await replacement;
      if (replaced !== plain) {
        parts.push(json.slice(copied, at), JSON.stringify(replaced));
        copied = end;
      }
    }
    at = end;
  }
  return parts.length === 0 ? json : parts.join("") + json.slice(copied);
}

/** Creates the marks of one result, which replace its secrets. */
function createMark(): Mark {
  let named = 0;
  return (name) => (named++ < MAX_NAMED_MARKS ? `[secret ${name}]` : "***");
}

/** Removes the secrets that a step or a scripted tool has read from its output. */
export function createRedactor(): Redactor {
  const names = new Set<string>();
  const values = new Set<string>();
  const finder = createFormFinder();

  return {
    names: () => [...names],
    add(name, value) {
      names.add(name);
      if (value.length < MIN_SECRET_LENGTH || values.has(value)) return;
      values.add(value);
      for (const form of secretForms(value)) finder.add(form, name);
    },
    text: async (text) => (values.size === 0 ? text : replaceIn(await finder.open(), text, createMark())),
    json: async (json) => (values.size === 0 ? json : replaceScalars(json, await finder.open(), createMark())),
  };
}
