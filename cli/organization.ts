import { AGENT_DEFAULTS, CreateAgent } from "#events/agent.ts";
import { CreateKey } from "#events/key.ts";
import { CreateOrganization } from "#events/organization.ts";
import { RegisterUser } from "#events/user.ts";
import type { CommandDefinition } from "#events/define.ts";
import { newCommandId, newId, streamOf } from "#events/ids.ts";
import type { CommandSender, Hints, Keyring } from "#events/ports.ts";
import { hashPassword, newPassword } from "#http/auth/password.ts";
import { newSecret } from "#http/auth/secrets.ts";
import type { Settings } from "#infra/config.ts";
import { projections } from "#projections/index.ts";
import { createPassed } from "#projections/passed.ts";
import type { Db } from "#projections/projection.ts";

export interface Credentials {
  base_url: string;
  organization_id: string;
  /** `sk-<service name>-…`, enabled for every product. */
  api_key: string;
  /** Its API is on; it has a model where there is one that needs no provider, and no tools. */
  agent_id: string;
  admin: { email: string; password: string };
}

const PATIENCE_MS = 30_000;

interface Needs {
  sender: CommandSender;
  hints: Hints;
  db: Db;
  keyring: Pick<Keyring, "mark">;
}

async function sendAll(
  { sender, keyring }: Needs,
  settings: Settings,
  name: string,
): Promise<{ credentials: Credentials; position: number }> {
  const organization_id = newId();
  const send = async <D>(definition: CommandDefinition<string, D>, stream: string, data: D): Promise<number> => {
    const answer = await sender.send({
      id: newCommandId(),
      type: definition.type,
      stream,
      organization_id,
      principal: "system",
      at: new Date().toISOString(),
      deadline: new Date(Date.now() + PATIENCE_MS).toISOString(),
      request_id: "svc-org-create",
      data,
    });
    if (answer.rejection) throw new Error(answer.rejection.message);
    return answer.position;
  };

  const user_id = newId();
  const email = `admin@${organization_id.slice(-12)}.example`;
  const password = newPassword();
  const key_id = newId();
  const key = newSecret("sk", settings.SERVICE_NAME);

  await send(CreateOrganization, streamOf("organization", organization_id), { organization_id, name });
  await send(RegisterUser, streamOf("organization", organization_id), {
    user_id,
    role: "owner",
    email,
    email_claim: keyring.mark("email", email),
    name: "Administrator",
    password_hash: await hashPassword(password),
  });
  const agent_id = newId();
  await send(CreateAgent, streamOf("agent", agent_id), {
    ...AGENT_DEFAULTS,
    agent_id,
    name: "First agent",
    model: settings.OFFLINE_MODELS ? "offline/echo" : null,
  });
  const position = await send(CreateKey, streamOf("key", key_id), {
    key_id,
    key_hash: key.hash,
    key_hint: key.hint,
    project_id: null,
    name: "First key",
    products: ["knowledge", "extraction"],
    expires_at: null,
    enabled: true,
    allowed_models: null,
  });
  const credentials = {
    base_url: settings.BASE_URL,
    organization_id,
    api_key: key.secret,
    agent_id,
    admin: { email, password },
  };
  return { credentials, position };
}

/**
 * Makes an organization with an owner who can sign in and an API key; secrets are only in what it returns.
 * `usable` says whether the read models have passed it, so that they work at once. Throws Unavailable when nothing answers.
 */
export async function makeOrganization(
  needs: Needs,
  settings: Settings,
  name: string,
): Promise<{ credentials: Credentials; usable: boolean }> {
  const { credentials, position } = await sendAll(needs, settings, name);
  const names = projections.map((projection) => projection.name);
  return { credentials, usable: await createPassed(needs)(names, position, PATIENCE_MS) };
}
