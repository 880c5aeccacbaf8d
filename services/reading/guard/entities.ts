import { UnreadableFile } from "../reader.ts";

/* The entities that a document type in the file declares. Nothing is fetched, and the expanded text is limited. */

/** Maximum UTF-16 units of one entity. */
const MAX_ENTITY = 10_000;
/** Maximum UTF-16 units of all references in a file, because nested entities grow exponentially. */
const MAX_EXPANDED = 1_000_000;
const MAX_NESTED = 8;

const DECLARATION = /<!ENTITY\s+([\w.:-]+)\s+(?:"([^"]*)"|'([^']*)'|(?:SYSTEM|PUBLIC)\s)/g;
const REFERENCE = /&(?:#x([\da-f]{1,6})|#(\d{1,7})|([\w.:-]+));/gi;

const fromCodePoint = (code: number): string => (code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : "");

/** The texts of declared entities by name; null for entities in other files. */
const readDeclarations = (subset: string): Map<string, string | null> => {
  const declared = new Map<string, string | null>();
  const plain = subset.replace(/<!--.*?-->/gs, "");
  for (const [, name, double, single] of plain.matchAll(DECLARATION))
    if (!declared.has(name!)) declared.set(name!, double ?? single ?? null);
  return declared;
};

/** Adds the entities of a document type to a parser's own. They are replaced by text, never by markup. */
export const addEntities = (known: Record<string, string>, subset: string): void => {
  const declared = readDeclarations(subset);
  const texts = new Map<string, string>();
  const expand = (name: string, depth: number): string => {
    const done = texts.get(name);
    if (done !== undefined) return done;
    const value = declared.get(name);
    if (value === null) throw new UnreadableFile("The file refers to text in another file, which is not fetched.");
    if (value === undefined) return Object.hasOwn(known, name) ? known[name]! : `&${name};`;
    if (depth > MAX_NESTED) throw new UnreadableFile("The file's entities are nested too deeply.");
    const text = value.replace(REFERENCE, (_, hex?: string, decimal?: string, inner?: string) => {
      if (inner !== undefined) return expand(inner, depth + 1);
      return fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    });
    if (text.length > MAX_ENTITY) throw new UnreadableFile("The file's entities expand to too much text.");
    texts.set(name, text);
    return text;
  };
  let expanded = 0;
  for (const name of declared.keys()) {
    if (Object.hasOwn(known, name)) continue;
    const get = (): string => {
      const text = expand(name, 1);
      expanded += text.length;
      if (expanded > MAX_EXPANDED) throw new UnreadableFile("The file's entities expand to too much text.");
      return text;
    };
    Object.defineProperty(known, name, { get, enumerable: true });
  }
};
