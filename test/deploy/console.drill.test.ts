import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { afterTest } from "../cleanUp.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");

/** The lines of the stage of the image that builds the console. */
function readStage(): string[] {
  const stages = readFileSync(join(ROOT, "Dockerfile"), "utf8").split(/^FROM /m);
  return stages.find((stage) => /^\S+ AS console$/m.test(stage))!.split("\n");
}

/** What `.dockerignore` leaves in the context of the build. */
const SENT = new Set(
  readFileSync(join(ROOT, ".dockerignore"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1)),
);

test("the image builds the whole console from what its stage copies", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-image-"));
  afterTest(() => rmSync(folder, { recursive: true, force: true }));
  const lines = readStage();
  for (const line of lines.filter((one) => one.startsWith("COPY "))) {
    const [, ...paths] = line.split(" ");
    const target = paths.pop()!;
    for (const path of paths) {
      expect(SENT).toContain(path);
      const to = target === "./" ? join(folder, path) : join(folder, target);
      mkdirSync(join(to, ".."), { recursive: true });
      cpSync(join(ROOT, path), to, { recursive: true });
    }
  }
  // what `npm install` would bring
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const build = lines
    .find((line) => line.startsWith("RUN node "))!
    .split(" ")
    .slice(2);
  await promisify(execFile)(process.execPath, build, { cwd: folder });
  for (const file of ["index.html", "pdf/frame.html", "docs/index.html"])
    expect(existsSync(join(folder, ".runtime", "console", file)), file).toBe(true);
  const image = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  expect(image).toContain("COPY --from=console /app/.runtime/console ./.runtime/console");
});
