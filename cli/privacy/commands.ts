import type { Command } from "commander";
import { ERASED_KINDS } from "#events/erasure.ts";
import { parseList, parsePath, SERVICE_URL, parseUuid } from "../arguments.ts";

const OUT = ["--out <file>", "write to a new file instead of stdout", parsePath] as const;
const CERTIFICATE = [
  "--certificate <file>",
  "write the certificate to a new file when it is complete",
  parsePath,
] as const;

/** Commands to export and erase what a running service stores about somebody. */
export function addPrivacy(svc: Command): void {
  svc
    .command("export")
    .description("write everything that is stored about somebody, as JSON lines")
    .argument("<subject>", "person:<id>, key:<id> or user:<value>")
    .option(...OUT)
    .option(...SERVICE_URL)
    .action(async (subject, options) => (await import("./exportSubject.ts")).exportSubject(subject, options));
  const erasures = svc.command("erasures").description("the erasure of what somebody has");
  erasures
    .command("start")
    .description("erase what somebody has at this moment, show the progress, and wait for the end")
    .argument("<owner>", "person:<id>, key:<id>, agent:<id> or user:<value>")
    .option("--kinds <kinds>", `only these, of ${ERASED_KINDS.join(",")}`, parseList(ERASED_KINDS))
    .option("--dry-run", "only print what would be erased, and what a hold keeps")
    .option("--no-wait", "print the id and end; the erasure goes on")
    .option(...CERTIFICATE)
    .option(...SERVICE_URL)
    .action(async (owner, options) => (await import("./erasures.ts")).startErasure(owner, options));
  erasures
    .command("wait")
    .description("show the progress of an erasure, and wait for its end")
    .argument("<id>", "its id", parseUuid)
    .option(...CERTIFICATE)
    .option(...SERVICE_URL)
    .action(async (id, options) => (await import("./erasures.ts")).waitForErasure(id, options));
  erasures
    .command("list")
    .description("print all, the newest first")
    .option(...SERVICE_URL)
    .option("--json", "print JSON, for programs")
    .action(async (options) => (await import("./erasures.ts")).listErasures(options));
  erasures
    .command("certificate")
    .description("write the certificate of a complete one, which svc log verify checks")
    .argument("<id>", "its id", parseUuid)
    .option(...OUT)
    .option(...SERVICE_URL)
    .action(async (id, options) => (await import("./erasures.ts")).writeCertificate(id, options));
}
