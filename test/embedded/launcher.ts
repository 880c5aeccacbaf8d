import { spawn } from "node:child_process";

/* Stands for svc.mjs: starts the holder as svc.mjs would and has no part in how it ends. */
const env = { ...process.env, SVC_LAUNCHER: String(process.pid) };
const holder = `${import.meta.dirname}/holder.ts`;
spawn(process.execPath, [holder, ...process.argv.slice(2)], { env, stdio: ["ignore", "inherit", "inherit", "ipc"] });
