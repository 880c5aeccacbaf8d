import { createFinder } from "./find.ts";
import { formsOf } from "./forms.ts";

/** Shorter values are no secrets, and stand in every text. */
const SHORTEST = 4;

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
  const values = new Set<string>();
  const finder = createFinder();
  const text = (from: string): string => finder.replace(from, (name) => `[secret ${name}]`);

  return {
    names: () => [...names],
    add(name, value) {
      names.add(name);
      if (value.length < SHORTEST || values.has(value)) return;
      values.add(value);
      for (const form of formsOf(value)) finder.add(form, name);
    },
    text: (from) => (values.size === 0 ? from : text(from)),
    json(json) {
      if (values.size === 0) return json;
      return json.replace(TOKENS, (token) => {
        const told = token.startsWith('"') ? (JSON.parse(token) as string) : token;
        const left = text(told);
        return left === told ? token : JSON.stringify(left);
      });
    },
  };
}
