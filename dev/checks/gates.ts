import { join } from "node:path";

const textRules = join(import.meta.dirname, "text.ts");

/** A check for one kind of fault. */
export interface Gate {
  name: string;
  /** The command as a person would call it. */
  command: [string, ...string[]];
  /** The same command with output that `findings` can parse. */
  readable: [string, ...string[]];
  findings(output: string): Finding[];
}

/** A reported fault; `line` is missing if the tool reports none. */
export interface Finding {
  file: string;
  line: number | null;
  rule: string;
}

interface LintOutput {
  /** A directive that disables nothing is reported without a code. */
  diagnostics: { code?: string; filename: string; labels: { span: { line: number } }[] }[];
}

interface FormatOutput {
  diagnostics: { location: { path: string } }[];
}

interface DeadCodeOutput {
  issues: ({ file: string } & Record<string, { line?: number }[]>)[];
}

/**
 * The console has its own TypeScript project, because it runs in browsers without Node. So have the examples: the globals of
 * `workflow.d.ts`, such as `sleep` and `log`, would hide missing imports of the service.
 */
const types = (name: string, project: string): Gate => ({
  name,
  command: ["tsc", "-p", project],
  readable: ["tsc", "-p", project, "--pretty", "false"],
  findings: (output) =>
    [...output.matchAll(/^(.+?)\((\d+),\d+\): error (TS\d+)/gm)].map(([, file = "", line, rule = ""]) => ({
      file,
      line: Number(line),
      rule,
    })),
});

const lint: Gate = {
  name: "lint, walls",
  command: ["oxlint"],
  readable: ["oxlint", "--format", "json"],
  findings: (output) =>
    (JSON.parse(output) as LintOutput).diagnostics.map(({ code, filename, labels }) => ({
      file: filename,
      line: labels[0]?.span.line ?? null,
      rule: code?.replace(/^.*\((.*)\)$/, "$1") ?? "unused-directive",
    })),
};

const format: Gate = {
  name: "format",
  command: ["biome", "format", "--reporter", "summary"],
  readable: ["biome", "format", "--reporter", "json"],
  findings: (output) =>
    (JSON.parse(output) as FormatOutput).diagnostics.map(({ location }) => ({
      file: location.path,
      line: null,
      rule: "format",
    })),
};

const deadCode: Gate = {
  name: "dead code",
  command: ["knip", "--no-config-hints"],
  readable: ["knip", "--no-config-hints", "--reporter", "json"],
  findings: (output) =>
    (JSON.parse(output) as DeadCodeOutput).issues.flatMap(({ file, ...kinds }) =>
      Object.entries(kinds).flatMap(([rule, found]) =>
        found.map(({ line }) => ({ file, line: rule === "dependencies" ? null : (line ?? null), rule })),
      ),
    ),
};

const text: Gate = {
  name: "words, SQL",
  command: ["node", textRules],
  readable: ["node", textRules],
  findings: (output) =>
    [...output.matchAll(/^(\S+?):(\d+) ([\w-]+) /gm)].map(([, file = "", line, rule = ""]) => ({
      file,
      line: Number(line),
      rule,
    })),
};

export const gates = [
  types("types", "."),
  types("console", "console"),
  types("examples", "examples"),
  lint,
  format,
  deadCode,
  text,
];
