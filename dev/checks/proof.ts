import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { type Finding, gates } from "./gates.ts";
import { runTool } from "./tool.ts";

const root = join(import.meta.dirname, "..", "..");
const projects = ["tsconfig.json", "console/tsconfig.json", "examples/tsconfig.json"];
const settings = [...projects, ".oxlintrc.json", "biome.json", "knip.json"];

/**
 * A gate that detects nothing lets everything pass. So each gate must report the faults planted in `fixtures/`, and nothing else.
 * The fixtures have the same rooms as the project, and are checked with its settings.
 */
export const proveGates = async (): Promise<{ planted: number; wrong: string[] }> => {
  const house = await mkdtemp(join(tmpdir(), "check-fixtures-"));
  try {
    await cp(join(import.meta.dirname, "fixtures"), house, { recursive: true });
    await Promise.all(settings.map((name) => cp(join(root, name), join(house, name))));
    await repeatLines(house);
    const planted = await plantedFaults(house);
    await symlink(join(root, "node_modules"), join(house, "node_modules"), "dir");
    const reported = new Set<string>();
    for (const gate of gates) {
      const { stdout } = await runTool(gate.readable, house);
      for (const finding of gate.findings(stdout)) reported.add(spell(finding));
    }
    const plantedRules = new Set([...planted].map((fault) => fault.split(" ").at(-1)));
    const unproven = (await lintRules())
      .filter((rule) => !plantedRules.has(rule))
      .map((rule) => `no fault is planted for the rule ${rule}`);
    const missed = [...planted].filter((fault) => !reported.has(fault)).map((fault) => `not reported: ${fault}`);
    const invented = [...reported].filter((fault) => !planted.has(fault)).map((fault) => `not a fault: ${fault}`);
    return { planted: planted.size, wrong: [...unproven, ...missed, ...invented] };
  } finally {
    await rm(house, { recursive: true });
  }
};

/** Repeats lines that end in `// N times`, so that fixtures can exceed a length limit and stay readable. */
const repeatLines = async (house: string): Promise<void> => {
  for (const entry of await readdir(house, { recursive: true, withFileTypes: true })) {
    if (!/\.tsx?$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const text = await readFile(path, "utf8");
    await writeFile(
      path,
      text.replace(/^(.*) \/\/ (\d+) times\n/gm, (_, line: string, times) => `${line}\n`.repeat(Number(times))),
    );
  }
};

interface LintRules {
  rules?: Record<string, unknown>;
  overrides?: LintRules[];
}

/** The rules that the project's lint settings enable by name, without their plugin prefix. */
const lintRules = async (): Promise<string[]> => {
  const settings = JSON.parse(await readFile(join(root, ".oxlintrc.json"), "utf8")) as LintRules;
  const named = [settings, ...(settings.overrides ?? [])].flatMap(({ rules = {} }) => Object.entries(rules));
  const on = named.filter(([, level]) => [level].flat()[0] === "error").map(([name]) => name.split("/").at(-1)!);
  return [...new Set(on)];
};

const spell = ({ file, line, rule }: Finding): string => `${line === null ? file : `${file}:${line}`} ${rule}`;

/** Planted faults are marked by `reported: rule, rule` behind the line, on the line before, or for the whole file. */
const plantedFaults = async (house: string): Promise<Set<string>> => {
  const faults = new Set<string>();
  for (const entry of await readdir(house, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || settings.some((path) => basename(path) === entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const lines = (await readFile(path, "utf8")).split("\n");
    for (const [index, text] of lines.entries()) {
      const [, where, rules] = text.match(/(file |next line )?reported: ([\w-]+(?:, [\w-]+)*)/) ?? [];
      const line = where === "file " ? null : index + (where === "next line " ? 2 : 1);
      for (const rule of rules?.split(", ") ?? []) faults.add(spell({ file: relative(house, path), line, rule }));
    }
  }
  return faults;
};
