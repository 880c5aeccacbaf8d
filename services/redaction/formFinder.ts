/** UTF-16 units of a form that the trie holds. The rest is compared directly. */
const MAX_TRIE_DEPTH = 64;

interface Tail {
  /** What follows the part of a form that is in the trie. */
  rest: string;
  name: string;
}

interface Node {
  depth: number;
  next: Map<number, Node>;
  /** The node of the longest proper suffix that is in the trie. */
  fail: Node | undefined;
  /** This node, or the next one on the way of `fail`, where a form ends or leaves the trie. */
  hit: Node | undefined;
  /** Forms that end or leave the trie here, in order. */
  tails: Tail[];
  /** The form that ends here, if none goes on. */
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

/** The first tail that is not smaller than a text. */
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

/** The tail that continues furthest at a place, and how far. A text may end within a form. */
function extend({ tails }: Node, text: string, at: number): { length: number; name: string } {
  const longest = tails.reduce((length, { rest }) => Math.max(length, rest.length), 0);
  const following = text.slice(at, at + longest);
  const near = lowerBound(tails, following);
  // in order, the tails that share most with a text are next to it
  const lengths = [near - 1, near].map((n) => (tails[n] ? commonLength(tails[n].rest, following) : 0));
  const length = Math.max(...lengths);
  return { length, name: tails[lowerBound(tails, following.slice(0, length))]!.name };
}

/** The matches of a text in order. Numbers in lists, because a hostile text has hundreds of thousands. */
function createMatches() {
  const [starts, ends, lengths, names]: [number[], number[], number[], string[]] = [[], [], [], []];
  let count = 0;
  return {
    starts,
    ends,
    names,
    count: () => count,
    /** Adds the match that ends last. It can begin before others: those that overlap become one, named after the longest. */
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

/** Adds the links by which a search goes on after a mismatch (Aho and Corasick). */
function link(root: Node): void {
  const queue: Node[] = [root];
  for (const node of queue) {
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

/**
 * Finds forms in texts. A long form matches by its first characters, and as far as it continues: a truncated secret is found
 * too. The time grows with the length of the text alone, whatever it has in common with the forms.
 */
export function createFormFinder() {
  const root = newNode(0);
  let isLinked = false;

  function findAll(text: string): Matches {
    const matches = createMatches();
    let node = root;
    for (let at = 0; at < text.length; ) {
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
    return matches;
  }

  return {
    add(form: string, name: string): void {
      insert(root, form, name);
      isLinked = false;
    },

    /** Replaces each form in the text; forms that overlap are replaced together. */
    replace(text: string, replacement: (name: string) => string): string {
      if (!isLinked) link(root);
      isLinked = true;
      const { starts, ends, names, count } = findAll(text);
      const parts: string[] = [];
      let from = 0;
      for (let n = 0; n < count(); n++) {
        if (starts[n]! > from) parts.push(text.slice(from, starts[n]));
        parts.push(replacement(names[n]!));
        from = ends[n]!;
      }
      return from === 0 ? text : parts.join("") + text.slice(from);
    },
  };
}
