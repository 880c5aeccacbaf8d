#!/usr/bin/env node
// The launcher. Runs on Node 20 without dependencies, installs Node 24 and packages if they are missing, and starts the service.
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { constants, uptime } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const runtime = join(root, ".runtime");
/** The newest version 24 on npm for each platform, and the hash that npm's registry publishes of it. Other bytes are refused. */
const nodeReleases = {
  "linux-x64": {
    version: "24.21.0",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  "linux-arm64": {
    version: "24.21.0",
    integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
  "darwin-x64": {
    version: "24.18.1",
    integrity: "sha512-tCT5i2LaCG+9j7HXlF1ioPfVSbHRTp3MgWDknJ0ofG8V2eRDNEpqhC3y9DLmvUpTPYsSwHBSccIeB3yl92hTIQ==",
  },
};

const fail = (message) => {
  console.error(`svc: ${message}`);
  process.exit(1);
};
const readJson = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined);
const isRecent = (version) => {
  const [major, minor] = version.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 12);
};

const findNpmScript = () => {
  const bundled = join(dirname(process.execPath), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js");
  const onPath = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, "npm"));
  const candidates = [process.env.npm_execpath, bundled, ...onPath].filter((path) => path && existsSync(path));
  return candidates.map((path) => realpathSync(path)).find((path) => path.endsWith("npm-cli.js"));
};

/** Runs npm without install scripts. Ends the process with one line when it fails. */
const runNpm = (node, folder, args, what) => {
  const script = findNpmScript();
  if (!script) fail(`npm is needed to install ${what}, and is not on PATH: install npm, then run this again.`);
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawnSync(node, [script, ...args, ...quiet, "--prefix", folder], { cwd: folder, env, encoding: "utf8" });
  if (npm.status === 0) return;
  const reason =
    /^npm (?:error|ERR!) (?!code|errno|syscall)(.+)$/m.exec(npm.stderr)?.[1] ?? npm.signal ?? npm.error?.message;
  fail(`could not install ${what} (${reason}): check that npm can reach its registry, then run this again.`);
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
    const age_ms = Date.now() - statSync(lock).mtimeMs;
    // since the machine started, another process may have got the number
    if (age_ms > uptime() * 1_000) return true;
    return pid ? !isRunning(Number(pid)) : age_ms > 5_000;
  } catch {
    return false;
  }
};

/** Only one launcher installs at a time; others wait and then find the result. */
const withInstallLock = (install) => {
  mkdirSync(runtime, { recursive: true });
  const lock = join(runtime, "installing");
  for (let waits = 0; ; waits++) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if (error.code !== "EEXIST")
        fail(`cannot write to ${runtime} (${error.code}): make it writable, then run this again.`);
      if (isAbandoned(lock)) rmSync(lock, { recursive: true, force: true });
      else {
        if (waits === 8) console.error(`Waiting for another start, which installs into this folder (${lock})`);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
      }
    }
  }
  mkdirSync(join(lock, String(process.pid)));
  process.once("exit", () => rmSync(lock, { recursive: true, force: true }));
  install();
  rmSync(lock, { recursive: true, force: true });
};

/** Writes a package with a lock file, because `npm ci` compares what it downloads with the hash in it. */
const writeNodePackage = (folder, name, { version, integrity }) => {
  const dependencies = { [name]: version };
  const packages = { "": { dependencies }, [`node_modules/${name}`]: { version, integrity } };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ dependencies }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
};

const installNode = (release, home) => {
  const { version } = release;
  if (existsSync(home)) return;
  console.error(`Installing Node ${version} for this project into .runtime`);
  const next = `${home}.${process.pid}`;
  mkdirSync(next, { recursive: true });
  process.once("exit", () => rmSync(next, { recursive: true, force: true }));
  const name = `node-${process.platform}-${process.arch}`;
  writeNodePackage(next, name, release);
  runNpm(process.execPath, next, ["ci"], `Node ${version}`);
  const program = join(next, "node_modules", name, "bin", "node");
  const works = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout?.startsWith(`v${version}`);
  if (!works) fail("the Node from npm does not run on this machine: install Node 24.12 or newer, then run this again.");
  renameSync(join(next, "node_modules", name), home);
};

/** The path of a Node that can run this project. */
const findNode = () => {
  if (isRecent(process.versions.node)) return process.execPath;
  const release = nodeReleases[`${process.platform}-${process.arch}`];
  if (!release)
    fail(
      `this is Node ${process.versions.node}, and npm has no newer version for this machine: install Node 24.12 or newer.`,
    );
  const home = join(runtime, `node-${release.version}`);
  if (!existsSync(home)) withInstallLock(() => installNode(release, home));
  return join(home, "bin", "node");
};

/** Whether node_modules contains the packages of the lock file, in the same versions. */
const isInstalled = (folder, withDev) => {
  const wanted = readJson(join(folder, "package-lock.json"))?.packages ?? {};
  const installed = readJson(join(folder, "node_modules", ".package-lock.json"))?.packages;
  const isOptional = (entry) => entry.optional || entry.devOptional || (entry.dev && !withDev);
  const isSatisfied = ([path, entry]) =>
    path === "" || (installed[path] ? installed[path].version === entry.version : isOptional(entry));
  return installed !== undefined && Object.entries(wanted).every(isSatisfied);
};

const installPackages = (node, folder, withDev) => {
  if (isInstalled(folder, withDev)) return;
  withInstallLock(() => {
    if (isInstalled(folder, withDev)) return;
    console.error(`Installing packages${folder === root ? "" : ` of ${folder.slice(root.length + 1)}`}`);
    // Not `ci`: it removes all packages first, and a service may be running on them.
    runNpm(node, folder, ["install", "--no-save", ...(withDev ? ["--include=dev"] : [])], "the packages");
  });
};

/** Pids of our parent and, if there is /proc, of its parent. */
const readParents = () => {
  const stat = `/proc/${process.ppid}/stat`;
  const fields = existsSync(stat)
    ? readFileSync(stat, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")
    : [];
  return `${process.ppid} ${fields[1]}`;
};

/**
 * V8 lets a heap that may have 2 GiB and more grow up to fourfold between two collections; this makes it less than twofold, without
 * a lower limit. The young generation is larger than V8's own, so that what belongs to a turn dies young (docs/operating.md, Sizing).
 */
const HEAP = ["--heap-growing-percent=80", "--max-semi-space-size=32"];
/** What NODE_OPTIONS sets stays. */
const heapFlags = () => HEAP.filter((flag) => !process.env.NODE_OPTIONS?.includes(flag.split("=")[0]));

/**
 * For glibc: it would keep an arena for each thread, and freed blocks of up to 32 MB, such as those of password hashing. A service that
 * has just started takes 285 MB with this and 385 MB without.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "1048576", MALLOC_TRIM_THRESHOLD_: "1048576" };

/** Runs the script with this Node, passes signals on to it and exits with its exit code. */
const runScript = (node, script, args, cwd, flags = []) => {
  const env = { ...ALLOCATOR, ...process.env, SVC_LAUNCHER: String(process.pid) };
  if (node !== process.execPath) env.PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  // No messages are sent on the channel: it breaks when we are killed, and the service then stops.
  const child = spawn(node, [...flags, join(root, script), ...args], {
    cwd,
    env,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  child.once("error", (error) =>
    fail(`${node} cannot be run (${error.message}): remove .runtime, then run this again.`),
  );
  child.once("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  const pass = (signal) => child.kill(signal);
  // A terminal sends Ctrl-C to the whole process group, so the child has received it already.
  process.on("SIGINT", (signal) => process.stdin.isTTY || pass(signal));
  process.on("SIGTERM", pass);
  process.on("SIGHUP", pass);
  if (!process.env.npm_lifecycle_event) return;
  // When npm or its shell is killed with -9, no signal arrives, but our parents change.
  const parents = readParents();
  setInterval(() => readParents() !== parents && pass("SIGTERM"), 250);
};

const [first, ...rest] = process.argv.slice(2);
const tool = {
  "--test": { script: "node_modules/vitest/vitest.mjs", args: ["run", "--project=unit", "--project=system", ...rest] },
  "--drill": {
    script: "node_modules/vitest/vitest.mjs",
    args: ["run", "--project=drill", "--project=alone", ...rest],
  },
  "--check": { script: "dev/checks/check.ts", args: rest },
  "--bench": { script: "dev/bench/run.ts", args: rest },
  "--crash": { script: "dev/crash/run.ts", args: rest },
}[first];

/** Builds the console if its sources changed. The image has it built, and has no sources. */
const buildConsole = (node) => {
  const script = join(root, "dev", "console", "build.ts");
  if (!existsSync(script)) return;
  const build = spawnSync(node, [script], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (build.status !== 0) fail("could not build the console: see the lines above.");
};

const node = findNode();
const servesConsole = first === "all" || first === "http";
installPackages(node, root, tool !== undefined || servesConsole);
if (servesConsole) buildConsole(node);
if (first === "--bench") installPackages(node, join(root, "dev", "bench"), false);
if (tool) runScript(node, tool.script, tool.args, root);
else runScript(node, "main.ts", process.argv.slice(2), process.cwd(), heapFlags());
