import { Command, CommanderError } from "commander";
import { roles } from "../roles/run.ts";
import { start } from "./start.ts";

function program(): Command {
  const svc = new Command("svc").description("The assistant platform: its roles and its tools.").exitOverride();
  svc.command("all").description("every role in one process, with the services it needs").action(() => start("all"));
  for (const role of roles) svc.command(role).description(`the role ${role} alone`).action(() => start(role));
  return svc;
}

/** Runs what the arguments ask for. A failure is one line that says what to do next, and exit code 1. */
export async function run(args: string[]): Promise<void> {
  try {
    await program().parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else {
      process.stderr.write(`${explain(error)}\n`);
      if (process.env["LOG_LEVEL"] === "debug") process.stderr.write(`${(error as Error).stack}\n`);
      process.exitCode = 1;
    }
  }
}

function explain(error: unknown): string {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE") return `Port ${port} is taken: end what listens there, or set PORT to another one.`;
  return message ?? String(error);
}
