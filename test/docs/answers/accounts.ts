import type { Colleague, Desk } from "./desk.ts";

/** Members, keys and settings of an organization. Returns a colleague who may decide approvals. */
export async function askForAccounts(desk: Desk): Promise<Colleague> {
  const { ask, credentials, tenant } = desk;
  await ask("get /api/auth/me");
  await ask("post /api/auth/login", { body: credentials.admin });
  const project = await ask("post /api/projects");
  await ask("get /api/projects");

  const member = await ask("post /api/members");
  const colleague = await tenant.member("approver", "grace");
  await ask("get /api/members");
  await ask("patch /api/members/{id}", { path: [member.id] });
  await ask("put /api/members/{id}/substitute", { path: [member.id], body: { substitute: colleague.id } });
  await ask("post /api/members/{id}/password", { path: [member.id] });
  await ask("put /api/groups/{group}", { path: ["finance"], body: { members: [member.id] } });
  await ask("get /api/groups");

  await askForModels(desk);
  await ask("put /api/budgets/{subject}", { path: ["organization"] });
  await ask("get /api/budgets");
  await ask("get /api/limits");
  const key = await ask("post /api/keys", { body: { project_id: project.id } });
  await ask("get /api/keys");
  await ask("patch /api/keys/{id}", { path: [key.id] });
  return colleague;
}

async function askForModels({ ask, provider }: Desk): Promise<void> {
  await ask("put /api/providers/{name}", { path: ["openai"], body: { base_url: provider.url } });
  await ask("put /api/providers/{name}", { path: ["anthropic"], body: { models: ["claude-haiku-4-5"] } });
  await ask("get /api/providers");
  await ask("get /api/embeddings");
  await ask("put /api/ocr");
  await ask("get /api/ocr");
  await ask("put /api/prices/{provider}/{model}", { path: ["openai", "gpt-5-mini"] });
  await ask("get /api/prices");
  await ask("put /api/aliases/{alias}", { path: ["fast"] });
  await ask("get /api/aliases");
}
