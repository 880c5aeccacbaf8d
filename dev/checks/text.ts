import { glob, readFile } from "node:fs/promises";
import { type Passage, commentary, prose } from "./commentary.ts";

/*
 * `node dev/checks/text.ts`: applies rules that no linter has to the current folder. Prints `FILE:LINE RULE TEXT` for each fault,
 * and exits with 1 if there are any.
 */

interface TextRule {
  name: string;
  applies(file: string): boolean;
  passages(file: string, lines: string[]): Passage[];
  pattern: RegExp;
}

const everyLine = (_file: string, lines: string[]): Passage[] =>
  lines.map((text, index) => ({ line: index + 1, text }));

/** Archaic words and sentence patterns, each of which has a plain replacement. */
const ARCHAIC =
  /\b(anew|whoever|whomever|whatsoever|whence|thence|thereof|therein|foretold|nought|in earnest|(is|be|are|was|were|get|gets|got) rid of|giv(es?|en|ing) way to|com(e|es|ing) of it|came of it|(come|comes|came) to nothing|what (it|they|he|she) (come|comes|came) to|so often|at one time|stand(s|ing)? still|stood still|(is|are|was|were|be|been|being) told|tells? of|let(s|ting)? go of|it is said|who (asks?|reads?|waits?|lives?|speaks?|listens?))\b/i;

/**
 * The clock of a process may be wrong, so times are compared by `currentTime` (docs/adr/0075-wrong-clocks-do-no-harm.md), and
 * durations are measured by `performance.now()`, which never jumps.
 */
const OWN_CLOCK = /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/;
const HAS_CLOCK = /^(events|services|projections|http|infra|roles)\/.*\.ts$/;
/** The files of the clock and its comparison; the clock of sandboxed code; and drivers that handle no times of the log. */
const CLOCK_HOMES = /^(events\/clock|infra\/postgres\/clock)\.ts$|^infra\/(sandbox|nats)\/|\.test\.ts$/;

/** A participle as a type name says what was done to a thing, but not what the thing is. Three words ending in -ed are nouns. */
const PARTICIPLE_TYPE = /^\s*(export )?(type|interface) (?!(Feed|Speed|Embed)\b)[A-Z][a-z]+ed(<| =| extends | \{)/;

/** Files whose strings are often data, such as documents and questions. */
const HOLDS_DATA = /\.test\.tsx?$|^(test|examples)\/|\/testing\/|^dev\/(bench|crash)\//;

const rules: TextRule[] = [
  {
    name: "plain-words",
    applies: () => true,
    passages: (file, lines) =>
      file.endsWith(".md") ? prose(lines) : commentary(lines, { sentences: !HOLDS_DATA.test(file) }),
    pattern: ARCHAIC,
  },
  {
    // The import walls do not see SQL: http/ reads `log` and `ops` through ports that infra/postgres implements.
    name: "sql-wall",
    applies: (file) => /^http\/.*\.ts$/.test(file) && !file.endsWith(".test.ts"),
    passages: everyLine,
    pattern: /\b(from|join|into|update|using|only)\s+(log|ops)\.[a-z_]/i,
  },
  {
    name: "one-clock",
    applies: (file) => HAS_CLOCK.test(file) && !CLOCK_HOMES.test(file),
    passages: everyLine,
    pattern: OWN_CLOCK,
  },
  {
    name: "noun-types",
    applies: (file) => /\.tsx?$/.test(file),
    passages: everyLine,
    pattern: PARTICIPLE_TYPE,
  },
];

/** Also skips data: documents that tests and benches read, and migrations, which never change. */
const SKIPPED =
  /(^|\/)(node_modules|\.git|\.runtime|\.data|coverage)(\/|$)|^dev\/checks\/fixtures|^(dev\/bench\/search\/prose|examples\/source|test\/files\/(office|pdf|source|guide\.md))|^infra\/postgres\/migrations/;

const findFaults = async (): Promise<string[]> => {
  const faults: string[] = [];
  for await (const path of glob("**/*.{ts,tsx,mjs,sql,md}", { exclude: (name) => SKIPPED.test(name) })) {
    if (SKIPPED.test(path)) continue;
    const lines = (await readFile(path, "utf8")).split("\n");
    for (const rule of rules.filter(({ applies }) => applies(path)))
      for (const { line, text } of rule.passages(path, lines))
        if (rule.pattern.test(text)) faults.push(`${path}:${line} ${rule.name} ${text.trim().slice(0, 160)}`);
  }
  return faults.sort();
};

const faults = await findFaults();
for (const fault of faults) console.log(fault);
if (faults.length > 0) process.exitCode = 1;
