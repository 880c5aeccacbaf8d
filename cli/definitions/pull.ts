import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { print, escapeControls } from "../output.ts";
import { nameFiles } from "./folder.ts";
import { replaceFiles, type NewText } from "./replaceFiles.ts";
import type { Service, ServiceOptions } from "../service.ts";
import { findVersion, listRemote, readRemoteSource, type RemoteDefinition, withDefinitions } from "./remote.ts";

interface PullOptions extends ServiceOptions {
  force?: boolean;
}

/** The files of a folder by type and name of their definition. Prints which ones cannot be read as one. */
async function localFiles(folder: string): Promise<Map<string, string>> {
  const found = existsSync(folder) ? await nameFiles(folder) : [];
  for (const { type, name, problem } of found)
    if (problem !== undefined) print(`${escapeControls(problem)}: taken for the ${type} ${name}`);
  return new Map(found.map(({ type, name, file }) => [`${type} ${name}`, file]));
}

/** Chooses a definition's file, and notes it in `files`. Undefined if the file of that name holds another definition. */
export function chooseFile(
  folder: string,
  files: Map<string, string>,
  { type, name }: Pick<RemoteDefinition, "type" | "name">,
): string | undefined {
  const key = `${type} ${name}`;
  const known = files.get(key);
  if (known !== undefined) return known;
  const file = join(folder, `${name}.ts`);
  if ([...files.values()].includes(file)) return undefined;
  files.set(key, file);
  return file;
}

/** What is done with one definition. */
interface PullStep {
  line: string;
  /** Absent: no file changes. */
  write?: NewText;
  isLeftOut: boolean;
}

async function planOne(service: Service, remote: RemoteDefinition, file: string, isForced: boolean): Promise<PullStep> {
  const { type, name, version, id } = remote;
  const source = await readRemoteSource(service, remote);
  const wrote = (over: string): PullStep => ({
    line: `wrote ${file}: ${type} ${name}, version ${version}${over}`,
    write: { file, text: source },
    isLeftOut: false,
  });
  if (!existsSync(file)) return wrote("");
  const local = readFileSync(file, "utf8");
  if (local === source) return { line: `unchanged ${file}: version ${version}`, isLeftOut: false };
  const earlier = await findVersion(service, id, local);
  if (earlier !== undefined) return wrote(` over version ${earlier}`);
  if (isForced) return wrote(" over edits");
  return {
    line: `kept ${file}: no version of ${type} ${name} has this text; push it, or overwrite it with --force`,
    isLeftOut: true,
  };
}

/**
 * Writes the service's definitions into a folder, all or none: a failure leaves the folder as it was, because a mix of old and new
 * definitions may not work together. Returns whether all of them are there. `files`: those of the folder, as `localFiles` finds them.
 */
export async function pullInto(
  folder: string,
  service: Service,
  { files, isForced }: { files: Map<string, string>; isForced: boolean },
): Promise<boolean> {
  const steps: PullStep[] = [];
  for (const remote of await listRemote(service)) {
    const file = chooseFile(folder, files, remote);
    const { type, name } = remote;
    const line = `skipped the ${type} ${name}: ${name}.ts has another definition; give one a name of its own`;
    steps.push(file ? await planOne(service, remote, file, isForced) : { line, isLeftOut: true });
  }
  mkdirSync(folder, { recursive: true });
  await replaceFiles(steps.flatMap(({ write }) => write ?? []));
  for (const { line } of steps) print(line);
  return steps.every(({ isLeftOut }) => !isLeftOut);
}

/** Writes the service's definitions into a folder. Files with unsaved edits stay, and set exit code 1. */
export async function pull(folder: string, options: PullOptions): Promise<void> {
  await withDefinitions(options, async (service) => {
    const files = await localFiles(folder);
    if (!(await pullInto(folder, service, { files, isForced: options.force ?? false }))) process.exitCode = 1;
  });
}
