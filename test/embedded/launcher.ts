import { spawn } from "node:child_process";

/* Takes the place of svc.mjs: starts holder.ts as svc.mjs would, and passes on no signal. */
const env = { ...process.env, SVC_LAUNCHER: String(process.pid) };
const holder = `${import.meta.dirname}/holder.ts`;
spawn(process.execPath, [holder, ...process.argv.slice(2)], { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
