import { createFormFinder } from "./formFinder.ts";
import { secretForms } from "./secretForms.ts";

/** Shorter values occur in ordinary text and cannot be secrets. */
const MIN_SECRET_LENGTH = 4;

export interface Redactor {
  add(name: string, value: string): void;
  /** Names of the added secrets, each once. */
  names(): string[];
  /** Replaces each secret with `[secret NAME]`, in all its encodings. */
  text(text: string): string;
  /** Does the same in JSON, which stays valid: a number or a word that is a secret becomes a string. */
  json(json: string): string;
}

const QUOTE = 34;
const BACKSLASH = 92;
/** What separates the scalars of JSON: white space, punctuation and quotes. */
const SEPARATORS = new Set(Array.from(' \n\r\t{}[],:"', (character) => character.charCodeAt(0)));

/** Where the string ends that begins at a quote. */
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

/** Replaces every string of a JSON text and every other scalar, except for those that are shorter than a secret. */
function replaceScalars(json: string, replace: (plain: string) => string): string {
  const parts: string[] = [];
  let copied = 0;
  for (let at = 0; at < json.length; ) {
    const isString = json.charCodeAt(at) === QUOTE;
    if (!isString && SEPARATORS.has(json.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = isString ? endOfString(json, at) : endOfScalar(json, at);
    const token = json.slice(at, end);
    if (token.length >= MIN_SECRET_LENGTH) {
      const plain = isString ? readString(token) : token;
      const replaced = replace(plain);
      if (replaced !== plain) {
        parts.push(json.slice(copied, at), JSON.stringify(replaced));
        copied = end;
      }
    }
    at = end;
  }
  return parts.length === 0 ? json : parts.join("") + json.slice(copied);
}

const markOf = (name: string): string => `[secret ${name}]`;

/** Removes the secrets that a step or a scripted tool has read from its output. */
export function createRedactor(): Redactor {
  const names = new Set<string>();
  const values = new Set<string>();
  const finder = createFormFinder();
  const redact = (text: string): string => finder.replace(text, markOf);

  return {
    names: () => [...names],
    add(name, value) {
      names.add(name);
      if (value.length < MIN_SECRET_LENGTH || values.has(value)) return;
      values.add(value);
      for (const form of secretForms(value)) finder.add(form, name);
    },
    text: (text) => (values.size === 0 ? text : redact(text)),
    json: (json) => (values.size === 0 ? json : replaceScalars(json, redact)),
  };
}
