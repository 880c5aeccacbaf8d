import { setImmediate } from "node:timers/promises";

/* Finds and replaces forms (spellings of secrets) in texts, with an Aho-Corasick automaton whose trie has a limited depth. */

/** UTF-16 units searched before other work may run: about 5 ms for a text that consists of secrets. */
export const SLICE = 32_768;
/** Nodes or matches handled before other work may run: a few milliseconds. */
const SLICE_NODES = 8_192;
const SLICE_MATCHES = 16_384;

/** UTF-16 units of a form that are in the trie. The rest is compared directly. */
const MAX_TRIE_DEPTH = 64;

interface Tail {
  /** The part of a form behind its trie part. */
  rest: string;
  name: string;
}

interface Node {
  depth: number;
  next: Map<number, Node>;
  /** The node of the longest proper suffix that is in the trie. */
  fail: Node | undefined;
  /** This node, or the next one along the `fail` links, where a form ends or leaves the trie. */
  hit: Node | undefined;
  /** Forms that end or leave the trie here, in order. */
  tails: Tail[];
  /** The form that ends here, if no form continues. */
  only: string | undefined;
}

const newNode = (depth: number): Node => ({
  depth,
  next: new Map(),
  fail: undefined,
  hit: undefined,
  tails: [],
  only: undefined,
});
const inOrder = (a: Tail, b: Tail): number => (a.rest < b.rest ? -1 : Number(a.rest > b.rest));

/** Index of the first tail that is not less than a text. */
function lowerBound(tails: Tail[], text: string): number {
  let [low, high] = [0, tails.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tails[middle]!.rest < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

function commonLength(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a.charCodeAt(n) === b.charCodeAt(n)) n += 1;
  return n;
}

/** The tail that matches furthest from a place, and how far. The text may end within the form. */
function extend({ tails }: Node, text: string, at: number): { length: number; name: string } {
  const longest = tails.reduce((length, { rest }) => Math.max(length, rest.length), 0);
  const following = text.slice(at, at + longest);
  const near = lowerBound(tails, following);
  // tails are sorted, so those that share the longest prefix with a text are next to its position
  const lengths = [near - 1, near].map((n) => (tails[n] ? commonLength(tails[n].rest, following) : 0));
  const length = Math.max(...lengths);
  return { length, name: tails[lowerBound(tails, following.slice(0, length))]!.name };
}

/** The matches of a text in order. Stored as arrays of numbers, because a hostile text has hundreds of thousands. */
function createMatches() {
  const [starts, ends, lengths, names]: [number[], number[], number[], string[]] = [[], [], [], []];
  let count = 0;
  return {
    starts,
    ends,
    names,
    count: () => count,
    /** Adds a match that ends after all others but may begin before them. Overlapping matches are merged and named after the longest. */
    add(start: number, end: number, name: string): void {
      let first = start;
      let length = end - start;
      let longest = name;
      while (count > 0 && ends[count - 1]! > first) {
        count -= 1;
        if (starts[count]! < first) first = starts[count]!;
        if (lengths[count]! < length) continue;
        length = lengths[count]!;
        longest = names[count]!;
      }
      starts[count] = first;
      ends[count] = end;
      lengths[count] = length;
      names[count] = longest;
      count += 1;
    },
  };
}

type Matches = ReturnType<typeof createMatches>;

function insert(root: Node, form: string, name: string): void {
  let node = root;
  for (let n = 0; n < Math.min(MAX_TRIE_DEPTH, form.length); n++) {
    const code = form.charCodeAt(n);
    const next = node.next.get(code) ?? newNode(n + 1);
    node.next.set(code, next);
    node = next;
  }
  const rest = form.slice(MAX_TRIE_DEPTH);
  if (!node.tails.some((known) => known.rest === rest)) node.tails.push({ rest, name });
}

/** Sets the failure links of the Aho-Corasick automaton. */
async function setFailureLinks(root: Node): Promise<void> {
  const queue: Node[] = [root];
  let done = 0;
  for (const node of queue) {
    if (++done % SLICE_NODES === 0) await setImmediate();
    node.tails.sort(inOrder);
    node.only = node.tails.length === 1 && node.tails[0]!.rest === "" ? node.tails[0]!.name : undefined;
    node.hit = node.tails.length > 0 ? node : node.fail?.hit;
    for (const [code, child] of node.next) {
      let fail = node.fail;
      while (fail && !fail.next.has(code)) fail = fail.fail;
      child.fail = node === root ? root : (fail?.next.get(code) ?? root);
      queue.push(child);
    }
  }
}

async function build(forms: [form: string, name: string][]): Promise<Node> {
  const root = newNode(0);
  let units = 0;
  for (const [form, name] of forms) {
    insert(root, form, name);
    units += Math.min(MAX_TRIE_DEPTH, form.length);
    if (units < SLICE_NODES) continue;
    units = 0;
    await setImmediate();
  }
  await setFailureLinks(root);
  return root;
}

/** Searches one text; can be interrupted. */
function openSearch(root: Node, text: string) {
  const matches = createMatches();
  let [node, at] = [root, 0];
  return {
    matches,
    /** Searches up to a place in the text, or slightly further. */
    advance(to: number): void {
      while (at < to) {
        const code = text.charCodeAt(at);
        let next = node.next.get(code);
        while (!next && node.fail) {
          node = node.fail;
          next = node.next.get(code);
        }
        node = next ?? root;
        at += 1;
        const { hit } = node;
        if (!hit) continue;
        const start = at - hit.depth;
        if (hit.only !== undefined) {
          matches.add(start, at, hit.only);
          continue;
        }
        const { length, name } = extend(hit, text, at);
        matches.add(start, at + length, name);
        if (length === 0) continue;
        at += length;
        node = root;
      }
    },
  };
}

type Replacement = (name: string) => string;

/** The text up to the end of a match, with the matches replaced. */
function replaceMatches(text: string, { starts, ends, names }: Matches, from: number, to: number, mark: Replacement) {
  const parts: string[] = [];
  let copied = ends[from - 1] ?? 0;
  for (let n = from; n < to; n++) {
    parts.push(text.slice(copied, starts[n]), mark(names[n]!));
    copied = ends[n]!;
  }
  return parts.join("");
}

/** Replaces forms in texts. Overlapping forms are replaced as one. */
export interface FormReplacer {
  /** For texts of at most `SLICE` units. */
  short(text: string, mark: Replacement): string;
  /** For texts of any length; lets other work run in between. */
  long(text: string, mark: Replacement): Promise<string>;
}

const openReplacer = (root: Node): FormReplacer => ({
  short(text, mark) {
    const { matches, advance } = openSearch(root, text);
    advance(text.length);
    const count = matches.count();
    return count === 0 ? text : replaceMatches(text, matches, 0, count, mark) + text.slice(matches.ends[count - 1]);
  },
  async long(text, mark) {
    const { matches, advance } = openSearch(root, text);
    for (let to = SLICE; to < text.length; to += SLICE) {
      advance(to);
      await setImmediate();
    }
    advance(text.length);
    const count = matches.count();
    if (count === 0) return text;
    const parts: string[] = [];
    for (let from = 0; from < count; from += SLICE_MATCHES) {
      await setImmediate();
      parts.push(replaceMatches(text, matches, from, Math.min(count, from + SLICE_MATCHES), mark));
    }
    return parts.join("") + text.slice(matches.ends[count - 1]);
  },
});

/**
 * Finds forms in texts. A long form matches by its beginning and as far as the text agrees, so that truncated secrets are found,
 * too. Takes time linear in the text, however much it resembles the forms.
 */
export function createFormFinder() {
  const forms: [form: string, name: string][] = [];
  let replacer: Promise<FormReplacer> | undefined;

  return {
    add(form: string, name: string): void {
      forms.push([form, name]);
      // searches in progress keep the forms they started with
      replacer = undefined;
    },
    /** Returns a replacer for the forms added so far. */
    open: (): Promise<FormReplacer> => (replacer ??= build([...forms]).then(openReplacer)),
  };
}
