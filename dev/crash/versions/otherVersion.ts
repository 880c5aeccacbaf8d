import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { changeIntoNextVersion } from "./nextVersion.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** What a process needs besides the code. Packages are those of this version. */
const LINKED = ["node_modules", ".runtime"];
const LEFT_OUT = new Set([...LINKED, ".git", ".data", "test", "docs", "coverage"]);

/** The name of the version that is made from this one. */
export const NEXT = "next";

/** Writes the code of a commit. Throws if the history is too short, as in a shallow clone. */
function unpack(commit: string, folder: string): void {
  try {
    const tree = execFileSync("git", ["-C", root, "archive", commit], { maxBuffer: 1024 ** 3, stdio: "pipe" });
    execFileSync("tar", ["-x", "-C", folder], { input: tree });
  } catch (cause) {
    const next = "fetch the history (git fetch --unshallow), or use --beside next, which needs none";
    throw new Error(`--beside ${commit}: this clone does not have that commit: ${next}`, { cause });
  }
}

function copyThis(folder: string): void {
  for (const name of readdirSync(root).filter((one) => !LEFT_OUT.has(one)))
    cpSync(join(root, name), join(folder, name), { recursive: true });
}

/** Makes the tree of another version: of a commit, or the `next` one, made from this one. Returns its root. */
export function makeOtherVersion(which: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  if (which === NEXT) {
    copyThis(folder);
    changeIntoNextVersion(folder);
  } else unpack(which, folder);
  // sandboxed processes may read this link and its target, but no links in between
  for (const name of LINKED) symlinkSync(realpathSync(join(root, name)), join(folder, name));
  return folder;
}
