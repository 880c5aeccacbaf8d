import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "#infra/config.ts";
import { claimFile, readJson } from "#infra/privateFiles.ts";
import type { Resources } from "../roles/resources.ts";
import { loadCredentials } from "./credentials.ts";
import { createOrganization, planOrganization, type Credentials, type OrganizationPlan } from "./organization.ts";

type FolderSettings = Pick<Settings, "DATA_DIR">;

/** How long to wait for the bus: a NATS cluster that starts at the same time takes some seconds to elect a leader. */
const PATIENCE_MS = 30_000;

/** The file with the plan of the first organization, until its credentials are saved. */
const planFile = ({ DATA_DIR }: FolderSettings): string => join(DATA_DIR, "first-organization.json");

/** Call it after the credentials are saved. */
export const forgetPlan = (settings: FolderSettings): void => rmSync(planFile(settings), { force: true });

/** Whether the database has organizations but the data folder no credentials, as after a restore. Then none is created. */
export async function hasOrganizationsOfOthers(
  settings: FolderSettings,
  { db }: Pick<Resources, "db">,
): Promise<boolean> {
  if (existsSync(planFile(settings))) return false;
  const [head] = await db.query<{ position: number }>("select position from log.head");
  // the process that creates the first one saves the credentials before it removes the plan
  return head!.position > 0 && loadCredentials(settings) === undefined;
}

/**
 * Creates the first organization of a data folder. Its plan is written before anything is created: if several processes start
 * together, one writes the plan and all carry it out, and a start after a kill completes it.
 */
export async function createFirstOrganization(
  settings: Settings,
  { bus, log, db, keyring }: Resources,
): Promise<Credentials> {
  const file = planFile(settings);
  claimFile(file, JSON.stringify(planOrganization(settings)));
  const plan = readJson<OrganizationPlan>(file);
  // another process has saved the credentials, and then removed its plan
  const saved = loadCredentials(settings);
  if (saved) return saved;
  if (!plan) throw new Error(`${file} cannot be read: remove it and start again`);
  const needs = { sender: bus.sender(log), hints: bus.hints, db, keyring };
  await createOrganization(needs, settings, { name: "First organization", plan, patience_ms: PATIENCE_MS });
  return plan.credentials;
}
