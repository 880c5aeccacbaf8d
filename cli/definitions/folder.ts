import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { CliError } from "../cliError.ts";
import {
  checkSource,
  openLocalSandbox,
  typeOfSource,
  type LocalSandbox,
  type ScriptType,
} from "../workflows/loadScript.ts";

/** A definition in a file. */
export interface LocalDefinition {
  file: string;
  type: ScriptType;
  /** The name in its `meta`, otherwise that of the file. */
  name: string;
  source: string;
  lint: { message: string; line: number; column: number }[];
}

const isDefinition = (name: string): boolean => /\.[jt]s$/.test(name) && !/\.d\.ts$|\.test\.[jt]s$/.test(name);

const nameOfFile = (file: string): string => basename(file).replace(/\.[jt]s$/, "");
const filesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter(isDefinition)
    .toSorted()
    .map((name) => join(folder, name));

/** The definition files at a path: the file itself, or those of a folder. Throws CliError. */
function definitionFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  const files = filesIn(path);
  if (files.length === 0) throw new CliError(`${path} has no definitions`, "add a file such as refund.ts");
  return files;
}

/** Reads the definition in a file. Throws CliError if it could not be saved. */
async function readOne({ checker }: LocalSandbox, file: string): Promise<LocalDefinition> {
  const source = readFileSync(file, "utf8");
  const type = typeOfSource(source);
  const checked = await checkSource(checker, file, source, type);
  const name = checked.name ?? nameOfFile(file);
  return { file, type, name, source, lint: checked.meta.workflow?.lint ?? [] };
}

function refuseTwins(found: Pick<LocalDefinition, "file" | "type" | "name">[]): void {
  for (const [n, { file, type, name }] of found.entries()) {
    const twin = found.slice(0, n).find((each) => each.type === type && each.name === name);
    if (twin) throw new CliError(`${file} and ${twin.file} are both the ${type} ${name}`, "give one another meta.name");
  }
}

async function withSandbox<T>(work: (sandbox: LocalSandbox) => Promise<T>): Promise<T> {
  const sandbox = openLocalSandbox();
  try {
    return await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** Reads and checks definitions. Throws CliError for the first that could not be saved, and for duplicate names. */
export const readDefinitions = (path: string): Promise<LocalDefinition[]> =>
  withSandbox(async (sandbox) => {
    const found: LocalDefinition[] = [];
    for (const file of definitionFiles(path)) {
      found.push(await readOne(sandbox, file));
      refuseTwins(found);
    }
    return found;
  });

/** A file of a folder and what it defines. A file that could not be saved counts as the definition of its name, with a `problem`. */
export interface NamedFile extends Pick<LocalDefinition, "file" | "type" | "name"> {
  problem?: string;
}

/** The definitions in a folder, which may be empty. Throws CliError for duplicate names. */
export const nameFiles = (folder: string): Promise<NamedFile[]> =>
  withSandbox(async (sandbox) => {
    const found: NamedFile[] = [];
    for (const file of filesIn(folder)) {
      const read = readOne(sandbox, file).catch((error: unknown): NamedFile => {
        if (!(error instanceof CliError)) throw error;
        const type = typeOfSource(readFileSync(file, "utf8"));
        return { file, type, name: nameOfFile(file), problem: error.what };
      });
      found.push(await read);
    }
    refuseTwins(found);
    return found;
  });

/** Describes a change, counting lines between the first and the last difference. */
export function describeChange(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return `from line ${start + 1}: ${old.length - start - end} lines removed, ${now.length - start - end} added`;
}
