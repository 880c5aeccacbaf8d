import { matchesPath, pathOf } from "./patterns.ts";

/** What a robots.txt says to one robot. */
export interface Robots {
  allows(url: URL): boolean;
  /** Seconds that it asks for between two requests. */
  delay: number;
}

/** Characters that are read, as RFC 9309 asks for, and rules that are kept. */
const MAX_LENGTH = 500_000;
const MAX_RULES = 2_000;
/** Longer delays would make a read take days. */
const MAX_DELAY_SECONDS = 10;

interface Group {
  agents: string[];
  rules: { isAllowed: boolean; pattern: string }[];
  delay: number;
}

/** A line that says something. One expression finds them: a file may have hundreds of thousands of others. */
const RULE = /(?<![^\r\n])[^\S\r\n]*(user-agent|allow|disallow|crawl-delay)[^\S\r\n]*:([^\r\n#]*)/gi;

/** The groups of the file; lines that say nothing are left out. */
function readGroups(text: string): Group[] {
  const groups: Group[] = [];
  let isHead = false;
  for (const [, name = "", said = ""] of text.slice(0, MAX_LENGTH).matchAll(RULE)) {
    const [field, value] = [name.toLowerCase(), said.trim()];
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

/** A robots.txt for the robot of this name (RFC 9309): of the rules that fit, the longest decides, and of two the one that allows. */
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
