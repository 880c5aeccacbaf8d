import { setTimeout as sleep } from "node:timers/promises";
import { AGENT_DEFAULTS, CreateAgent } from "#events/agent.ts";
import { CreateKey } from "#events/key.ts";
import { CreateOrganization } from "#events/organization.ts";
import { RegisterUser } from "#events/user.ts";
import type { CommandDefinition } from "#events/define.ts";
import { newCommand, type Command, type CommandResult } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { Unavailable, type CommandSender, type Hints } from "#events/ports.ts";
import type { Keyring } from "#events/vault.ts";
import { hashPassword, newPassword } from "#http/auth/password.ts";
import { newSecret } from "#http/auth/secrets.ts";
import type { Settings } from "#infra/config.ts";
import { projections } from "#projections/index.ts";
import { trackProgress } from "#projections/progress.ts";
import type { Db } from "#projections/projection.ts";

export interface Credentials {
  base_url: string;
  organization_id: string;
  /** `sk-<service name>-…`, enabled for every product. */
  api_key: string;
  /** Its API is enabled. It has no tools, and a model only if offline models are on. */
  agent_id: string;
  admin: { email: string; password: string };
}

/** All random values of a new organization. Creating it again with the same plan has no further effect. */
export interface OrganizationPlan {
  credentials: Credentials;
  user_id: string;
  key: { id: string; hash: string; hint: string };
}

const TIMEOUT_MS = 30_000;
/** Timeout of the first command if the caller does not wait for workers: then a worker that hangs is not waited for either. */
const FIRST_TIMEOUT_MS = 4_500;
const PAUSE_MS = 500;

interface NewOrganization {
  name: string;
  plan: OrganizationPlan;
  /** How long it waits for a worker before anything is created. */
  patience_ms: number;
}

interface OrganizationDeps {
  sender: CommandSender;
  hints: Hints;
  db: Db;
  keyring: Pick<Keyring, "keyedHash">;
}

/** Chooses the ids and secrets of a new organization, before any of it is stored. */
export function planOrganization(settings: Pick<Settings, "BASE_URL" | "SERVICE_NAME">): OrganizationPlan {
  const organization_id = newId();
  const { secret, hash, hint } = newSecret("sk", settings.SERVICE_NAME);
  return {
    credentials: {
      base_url: settings.BASE_URL,
      organization_id,
      api_key: secret,
      agent_id: newId(),
      admin: { email: `admin@${organization_id.slice(-12)}.example`, password: newPassword() },
    },
    user_id: newId(),
    key: { id: newId(), hash, hint },
  };
}

/** Sends a command repeatedly until a worker takes it or `until` has passed. */
async function sendUntil(sender: CommandSender, command: Command, until: number): Promise<CommandResult> {
  for (;;)
    try {
      return await sender.send(command);
    } catch (error) {
      if (!(error instanceof Unavailable) || performance.now() > until) throw error;
      await sleep(PAUSE_MS);
    }
}

/** Sends the commands of a plan. Resolves with a position that includes all of them. */
async function sendAll(
  { sender, keyring, db }: OrganizationDeps,
  settings: Settings,
  { name, plan: { credentials, user_id, key }, patience_ms }: NewOrganization,
): Promise<number> {
  const { organization_id, agent_id, admin } = credentials;
  let until = performance.now() + patience_ms;
  let timeout_ms = patience_ms === 0 ? FIRST_TIMEOUT_MS : TIMEOUT_MS;
  const send = async <D>(definition: CommandDefinition<string, D>, stream: string, data: D): Promise<void> => {
    const request_id = "svc-org-create";
    const command = newCommand(definition.type, { stream, organization_id, request_id, data, timeout_ms });
    const { rejection } = await sendUntil(sender, command, until);
    // half an organization is useless, so the remaining commands get more time
    until = performance.now() + TIMEOUT_MS;
    timeout_ms = TIMEOUT_MS;
    // ids are random, so whatever exists was created from the same plan
    if (rejection && !rejection.code.endsWith("_exists")) throw new Error(rejection.message);
  };

  await send(CreateOrganization, streamName("organization", organization_id), { organization_id, name });
  await send(RegisterUser, streamName("organization", organization_id), {
    user_id,
    role: "owner",
    email: admin.email,
    email_claim: keyring.keyedHash("email", admin.email),
    name: "Administrator",
    password_hash: await hashPassword(admin.password),
  });
  await send(CreateAgent, streamName("agent", agent_id), {
    ...AGENT_DEFAULTS,
    agent_id,
    name: "First agent",
    model: settings.OFFLINE_MODELS ? "offline/echo" : null,
  });
  await send(CreateKey, streamName("key", key.id), {
    key_id: key.id,
    key_hash: key.hash,
    key_hint: key.hint,
    project_id: null,
    name: "First key",
    products: ["knowledge", "extraction"],
    expires_at: null,
    enabled: true,
    allowed_models: null,
  });
  const [head] = await db.query<{ position: number }>("select position from log.head");
  return Number(head!.position);
}

/**
 * Creates an organization with an owner who can sign in, an agent and an API key, or the missing parts of it. Only the plan holds
 * the secrets. Resolves with false if the read models are behind, so that the credentials do not work yet. Throws Unavailable.
 */
export async function createOrganization(
  needs: OrganizationDeps,
  settings: Settings,
  organization: NewOrganization,
): Promise<boolean> {
  const position = await sendAll(needs, settings, organization);
  const names = projections.map((projection) => projection.name);
  return trackProgress(needs).waitFor(names, position, TIMEOUT_MS);
}
