import { AGENT_DEFAULTS, CreateAgent } from "#events/agent.ts";
import { CreateKey } from "#events/key.ts";
import { CreateOrganization } from "#events/organization.ts";
import { RegisterUser } from "#events/user.ts";
import type { CommandDefinition } from "#events/define.ts";
import { newCommand } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import type { CommandSender, Hints } from "#events/ports.ts";
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

const TIMEOUT_MS = 30_000;

interface OrganizationDeps {
  sender: CommandSender;
  hints: Hints;
  db: Db;
  keyring: Pick<Keyring, "keyedHash">;
}

async function sendAll(
  { sender, keyring }: OrganizationDeps,
  settings: Settings,
  name: string,
): Promise<{ credentials: Credentials; position: number }> {
  const organization_id = newId();
  const send = async <D>(definition: CommandDefinition<string, D>, stream: string, data: D): Promise<number> => {
    const request_id = "svc-org-create";
    const answer = await sender.send(
      newCommand(definition.type, { stream, organization_id, request_id, data, timeout_ms: TIMEOUT_MS }),
    );
    if (answer.rejection) throw new Error(answer.rejection.message);
    return answer.position;
  };

  const user_id = newId();
  const email = `admin@${organization_id.slice(-12)}.example`;
  const password = newPassword();
  const key_id = newId();
  const key = newSecret("sk", settings.SERVICE_NAME);

  await send(CreateOrganization, streamName("organization", organization_id), { organization_id, name });
  await send(RegisterUser, streamName("organization", organization_id), {
    user_id,
    role: "owner",
    email,
    email_claim: keyring.keyedHash("email", email),
    name: "Administrator",
    password_hash: await hashPassword(password),
  });
  const agent_id = newId();
  await send(CreateAgent, streamName("agent", agent_id), {
    ...AGENT_DEFAULTS,
    agent_id,
    name: "First agent",
    model: settings.OFFLINE_MODELS ? "offline/echo" : null,
  });
  const position = await send(CreateKey, streamName("key", key_id), {
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
 * Creates an organization with an owner who can sign in, an agent and an API key. The secrets are only in the result.
 * `usable` is false when the read models are behind, so that the credentials do not work yet. Throws Unavailable.
 */
export async function createOrganization(
  needs: OrganizationDeps,
  settings: Settings,
  name: string,
): Promise<{ credentials: Credentials; usable: boolean }> {
  const { credentials, position } = await sendAll(needs, settings, name);
  const names = projections.map((projection) => projection.name);
  return { credentials, usable: await trackProgress(needs).waitFor(names, position, TIMEOUT_MS) };
}
