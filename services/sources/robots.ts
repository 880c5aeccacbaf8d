import { matchesPath, pathOf } from "./patterns.ts";

/** The rules of a robots.txt for one robot. */
export interface Robots {
  allows(url: URL): boolean;
  /** Requested seconds between two requests. */
  delay: number;
}

/** Maximum characters that are read (RFC 9309 requires as many), and maximum rules. */
const MAX_LENGTH = 500_000;
const MAX_RULES = 2_000;
/** Longer delays would make a read take days. */
const MAX_DELAY_SECONDS = 10;

interface Group {
  agents: string[];
  rules: { isAllowed: boolean; pattern: string }[];
  delay: number;
}

/** Matches a line with a directive. One expression finds them all, because a file may have hundreds of thousands of other lines. */
const RULE = /(?<![^\r\n])[^\S\r\n]*(user-agent|allow|disallow|crawl-delay)[^\S\r\n]*:([^\r\n#]*)/gi;

/** The groups of the file. Lines without a directive are skipped. */
function readGroups(text: string): Group[] {
  const groups: Group[] = [];
  let isHead = false;
  for (const [, name = "", rawValue = ""] of text.slice(0, MAX_LENGTH).matchAll(RULE)) {
    const [field, value] = [name.toLowerCase(), rawValue.trim()];
    if (field === "user-agent") {
      if (!isHead) groups.push({ agents: [], rules: [], delay: 0 });
      groups.at(-1)!.agents.push(value.toLowerCase());
      isHead = true;
      continue;
    }
    const group = groups.at(-1);
    if (!group) continue;
    isHead = false;
    if (field === "crawl-delay") group.delay = Math.min(Math.max(Number(value) || 0, 0), MAX_DELAY_SECONDS);
    else if (value !== "") group.rules.push({ isAllowed: field === "allow", pattern: value });
  }
  return groups;
}

/** Parses a robots.txt for one robot (RFC 9309): the longest matching rule decides, and of two equally long ones, `allow` wins. */
export function parseRobots(text: string, agent: string): Robots {
  const groups = readGroups(text);
  const named = groups.filter(({ agents }) => agents.includes(agent.toLowerCase()));
  const ours = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes("*"));
  const rules = ours
    .flatMap((group) => group.rules)
    .slice(0, MAX_RULES)
    .toSorted((a, b) => b.pattern.length - a.pattern.length || Number(b.isAllowed) - Number(a.isAllowed));
  return {
    allows: (url) => rules.find(({ pattern }) => matchesPath(pattern, pathOf(url)))?.isAllowed ?? true,
    delay: Math.max(0, ...ours.map(({ delay }) => delay)),
  };
}
