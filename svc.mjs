#!/usr/bin/env node
// The launcher: runs on Node 20 without dependencies, finds or installs what the rest needs (Node 24, packages) and hands over.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const runtime = join(root, ".runtime");
/** The newest of the 24 line on npm for each platform. */
const nodes = { "linux-x64": "24.21.0", "linux-arm64": "24.21.0", "darwin-x64": "24.18.1" };

const fail = (message) => {
  console.error(`svc: ${message}`);
  process.exit(1);
};
const tell = (line) => console.error(line);
const readJson = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined);
const isRecent = (version) => {
  const [major, minor] = version.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 12);
};

const npmScript = () => {
  const beside = join(dirname(process.execPath), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js");
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const candidates = [process.env.npm_execpath, beside, ...onPath].filter((path) => path && existsSync(path));
  return candidates.map((path) => realpathSync(path)).find((path) => path.endsWith("npm-cli.js"));
};

/** Runs npm under the given Node; no package's install script runs. Ends the process with one line when it fails. */
const npm = (node, folder, args, what) => {
  const script = npmScript();
  if (!script) fail(`npm is needed to install ${what}, and there is none on PATH: install npm, then run this again.`);
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const done = spawnSync(node, [script, ...args, ...quiet, "--prefix", folder], { cwd: folder, env, encoding: "utf8" });
  if (done.status === 0) return;
  const reason =
    /^npm (?:error|ERR!) (?!code|errno|syscall)(.+)$/m.exec(done.stderr)?.[1] ?? done.signal ?? done.error?.message;
  fail(`could not install ${what} (${reason}): check that npm reaches its registry, then run this again.`);
};

const isRunning = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
};

const isAbandoned = (lock) => {
  try {
    const [pid] = readdirSync(lock);
    return pid ? !isRunning(Number(pid)) : Date.now() - statSync(lock).mtimeMs > 5_000;
  } catch {
    return false;
  }
};

/** One launcher at a time installs; another waits and then finds the work done. */
const alone = (install) => {
  mkdirSync(runtime, { recursive: true });
  const lock = join(runtime, "installing");
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== "EEXIST")
        fail(`cannot write to ${runtime} (${error.code}): make it writable, then run this again.`);
      if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    }
  }
  mkdirSync(join(lock, String(process.pid)));
  process.once("exit", () => rmSync(lock, { recursive: true, force: true }));
  install();
  rmSync(lock, { recursive: true, force: true });
};

const installNode = (version, home) => {
  if (existsSync(home)) return;
  tell(`Installing Node ${version}, which this project runs on, into .runtime`);
  const next = `${home}.${process.pid}`;
  mkdirSync(next, { recursive: true });
  process.once("exit", () => rmSync(next, { recursive: true, force: true }));
  const name = `node-${process.platform}-${process.arch}`;
  npm(process.execPath, next, ["install", "--no-save", "--no-package-lock", `${name}@${version}`], `Node ${version}`);
  const program = join(next, "node_modules", name, "bin", "node");
  const works = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout?.startsWith(`v${version}`);
  if (!works)
    fail("the Node that npm has for this machine does not run here: install Node 24.12 or newer, then run this again.");
  renameSync(join(next, "node_modules", name), home);
};

/** The path of a Node that runs this project. */
const findNode = () => {
  if (isRecent(process.versions.node)) return process.execPath;
  const version = nodes[`${process.platform}-${process.arch}`];
  if (!version)
    fail(
      `this is Node ${process.versions.node}, and npm has no newer one for this machine: install Node 24.12 or newer.`,
    );
  const home = join(runtime, `node-${version}`);
  if (!existsSync(home)) alone(() => installNode(version, home));
  return join(home, "bin", "node");
};

/** Whether node_modules holds what the lock file names, at those versions. */
const isInstalled = (folder, withDev) => {
  const wanted = readJson(join(folder, "package-lock.json"))?.packages ?? {};
  const found = readJson(join(folder, "node_modules", ".package-lock.json"))?.packages;
  const mayMiss = (entry) => entry.optional || entry.devOptional || (entry.dev && !withDev);
  const isThere = ([path, entry]) =>
    path === "" || (found[path] ? found[path].version === entry.version : mayMiss(entry));
  return found !== undefined && Object.entries(wanted).every(isThere);
};

const installPackages = (node, folder, withDev) => {
  if (isInstalled(folder, withDev)) return;
  alone(() => {
    if (isInstalled(folder, withDev)) return;
    tell(`Installing packages${folder === root ? "" : ` of ${folder.slice(root.length + 1)}`}`);
    // Not `ci`: it refuses a lock file that was written where the registry lacked other platforms' optional packages.
    npm(node, folder, ["install", "--no-save", ...(withDev ? ["--include=dev"] : [])], "the packages");
  });
};

/** Our parent and, where /proc tells it, the parent's parent. */
const parentsOf = () => {
  const stat = `/proc/${process.ppid}/stat`;
  const fields = existsSync(stat)
    ? readFileSync(stat, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")
    : [];
  return `${process.ppid} ${fields[1]}`;
};

/** Runs the script under the given Node in our place: signals go on to it and its exit code becomes ours. */
const handOver = (node, script, args, cwd) => {
  const env = { ...process.env, SVC_LAUNCHER: String(process.pid) };
  if (node !== process.execPath) env.PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  // The channel carries nothing: it breaks when we are killed, which the service takes as its signal to stop.
  const child = spawn(node, [join(root, script), ...args], {
    cwd,
    env,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  child.once("error", (error) =>
    fail(`${node} cannot be run (${error.message}): remove .runtime, then run this again.`),
  );
  child.once("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  const pass = (signal) => child.kill(signal);
  // A terminal gives Ctrl-C to the whole group, so the child has it already.
  process.on("SIGINT", (signal) => process.stdin.isTTY || pass(signal));
  process.on("SIGTERM", pass);
  process.on("SIGHUP", pass);
  if (!process.env.npm_lifecycle_event) return;
  // npm and its shell, killed with -9, pass on no signal; what they ran ends with them.
  const parents = parentsOf();
  setInterval(() => parentsOf() !== parents && pass("SIGTERM"), 250);
};

const [first, ...rest] = process.argv.slice(2);
const own = {
  "--test": { script: "node_modules/vitest/vitest.mjs", args: ["run", "--project=unit", "--project=system", ...rest] },
  "--drill": { script: "node_modules/vitest/vitest.mjs", args: ["run", "--project=drill", ...rest] },
  "--check": { script: "scripts/check.ts", args: rest },
  "--bench": { script: "bench/run.ts", args: rest },
  "--crash": { script: "crash/run.ts", args: rest },
}[first];

const node = findNode();
installPackages(node, root, own !== undefined);
if (first === "--bench") installPackages(node, join(root, "bench"), false);
if (own) handOver(node, own.script, own.args, root);
else handOver(node, "main.ts", process.argv.slice(2), process.cwd());
