import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { InvalidScript, type ScriptChecker } from "#http/base/scriptChecker.ts";
import { createScriptChecker } from "#infra/sandbox/checkScript.ts";
import { openScripts } from "#infra/sandbox/openScripts.ts";
import { openSchemaChecker } from "#infra/schemas/openSchemaChecker.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import type { Script } from "#services/workflows/script.ts";
import { CliError } from "../cliError.ts";

/** The organization id of local runs and checks. */
export const LOCAL_ORGANIZATION = "local";

/** A workflow from a file. */
export interface LocalScript extends Script {
  file: string;
  lint: { message: string; line: number; column: number }[];
}

export type ScriptType = "tool" | "workflow";

/** A definition that exports `execute` is a tool, any other a workflow. */
export const typeOfSource = (source: string): ScriptType =>
  /^\s*export\s+(?:(?:async\s+)?function\s*\*?|const|let|var)\s+execute\b|^\s*export\s*\{[^}]*\bexecute\b/m.test(source)
    ? "tool"
    : "workflow";

/** Reports what a save would refuse, without the service. Throws CliError with file, line and column. */
export async function checkSource(checker: ScriptChecker, file: string, source: string, type: ScriptType) {
  try {
    return await checker.check(LOCAL_ORGANIZATION, type, source);
  } catch (error) {
    if (!(error instanceof InvalidScript)) throw error;
    const place = error.line === null ? file : `${file}:${error.line}:${error.column}`;
    throw new CliError(`${place}: ${error.message.replace(/\.$/, "")}`, "correct it there");
  }
}

/** A sandbox on this machine, without a service. */
export function openLocalSandbox() {
  const runner = openScripts({ processes: 1 });
  const checker = createScriptChecker(runner);
  const schemas = openSchemaChecker(createFairSemaphore({ total: 1, perTenant: 1 }).run);
  return {
    runner,
    schemas,
    checker,
    /** Reads and checks a workflow. Throws CliError. */
    async load(file: string): Promise<LocalScript> {
      const source = readFileSync(file, "utf8");
      const { js, meta } = await checkSource(checker, file, source, "workflow");
      const { steps = {}, catches = true, ordered = false, lint = [] } = meta.workflow ?? {};
      const sha256 = createHash("sha256").update(js).digest("hex");
      return { file, js, sha256, steps, catches, ordered, lint, args_schema: meta.parameters };
    },
    close: async (): Promise<void> => void (await Promise.all([runner.close(), schemas.close()])),
  };
}

export type LocalSandbox = ReturnType<typeof openLocalSandbox>;
