import { UnreadableFile } from "../reader.ts";

/** Maximum nesting of forms. Programs nest them a few levels deep. */
const MAX_DEPTH = 64;
/** Maximum draws of forms within one form. pdf.js repeats the work for each: a million take 10 s. */
const MAX_DRAWS = 200_000;

const TOO_COMPLEX = "The PDF draws forms within forms too often to be read.";

/** Bytes of an object that holds resources. */
const MAX_RESOURCES = 4_000;

const NAME = String.raw`\/([^\s/<>()[\]{}%]+)`;
const DRAW = new RegExp(String.raw`${NAME}\s+Do(?![^\s/<>()[\]{}%])`, "g");
const REFERENCE = new RegExp(String.raw`${NAME}\s+(\d+)\s+\d+\s+R`, "g");

/** The value of an entry, following a reference to its object; "" if there is none. */
function followEntry(file: Buffer, dictionary: string, name: string): string {
  const found = new RegExp(String.raw`/${name}\s*(?:(\d+)\s+(\d+)\s+R|(?=<<))`).exec(dictionary);
  if (!found) return "";
  if (found[1] === undefined) return dictionary.slice(found.index);
  const at = file.lastIndexOf(`\n${found[1]} ${found[2]} obj`);
  return at < 0 ? "" : file.subarray(at, at + MAX_RESOURCES).toString("latin1");
}

/** The objects that the names in a form's operators refer to. */
function namedObjects(file: Buffer, dictionary: string): Map<string, string> {
  const objects = followEntry(file, followEntry(file, dictionary, "Resources"), "XObject");
  const inside = objects.slice(objects.indexOf("<<") + 2);
  const end = inside.indexOf(">>");
  return new Map([...inside.slice(0, end).matchAll(REFERENCE)].map(([, name, number]) => [name!, number!]));
}

/**
 * Counts how often the forms of a file draw each other. Ten forms with ten draws each are a few hundred bytes and ten billion draws.
 * Forms in object streams are not seen; for them the limit on processor time applies.
 */
export function createFormDrawCounter(file: Buffer) {
  /** For each form, by object number, how often it draws which other form. */
  const drawn = new Map<string, Map<string, number>>();
  const totals = new Map<string, number>();

  function total(form: string, depth: number): number {
    if (depth > MAX_DEPTH) throw new UnreadableFile(TOO_COMPLEX);
    const known = totals.get(form);
    if (known !== undefined) return known;
    // pdf.js does not draw a form within itself
    totals.set(form, 0);
    let draws = 1;
    for (const [inner, times] of drawn.get(form) ?? []) draws += times * total(inner, depth + 1);
    if (draws > MAX_DRAWS) throw new UnreadableFile(TOO_COMPLEX);
    totals.set(form, draws);
    return draws;
  }

  return {
    /** Records a stream: its dictionary with the line that numbers the object, and its operators. */
    add(dictionary: string, operators: Uint8Array): void {
      const number = [...dictionary.matchAll(/(\d+)\s+\d+\s+obj/g)].at(-1)?.[1];
      const own = dictionary.slice(dictionary.lastIndexOf(" obj"));
      if (number === undefined || !/\/Subtype\s*\/Form\b/.test(own)) return;
      const objects = namedObjects(file, own);
      const times = new Map<string, number>();
      for (const [, name] of Buffer.from(operators).toString("latin1").matchAll(DRAW)) {
        const inner = objects.get(name!);
        if (inner !== undefined) times.set(inner, (times.get(inner) ?? 0) + 1);
      }
      drawn.set(number, times);
    },
    /** Throws UnreadableFile if a form draws more than pdf.js can take. */
    check(): void {
      for (const form of drawn.keys()) total(form, 1);
    },
  };
}
