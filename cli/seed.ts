import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Credentials } from "./organization.ts";

const EXAMPLES = new URL("../examples/", import.meta.url);
const REFUND = fileURLToPath(new URL("refund.ts", EXAMPLES));
/** One run that waits for an approval, one that fails and one that completes; lists show the newest first. */
const ORDERS = [
  { order: "A-17", amount: 40 },
  { order: "unknown", amount: 40 },
  { order: "A-18", amount: 900 },
];
const COLLECTION = {
  name: "Handbook",
  description: "Example: the handbook of Larkspur Instruments, a company that does not exist.",
};
const DOCUMENTS = ["handbook.pdf", "handbook.docx", "handbook.pptx"];
const AGENT = {
  name: "Handbook",
  instructions: "Answer questions about the handbook of Larkspur Instruments. Cite the passages that you use.",
  tools: ["search_documents", "read_document"],
};

type Post = <T>(path: string, body: object) => Promise<T>;

/** Every request has an Idempotency-Key, so that repeating the example creates nothing twice. */
function openApi(address: string) {
  let token = "";
  let sent = 0;
  const post: Post = async <T>(path: string, body: object) => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${address}/api${path}`, {
      method: "POST",
      headers: {
        ...(!isForm && { "content-type": "application/json" }),
        ...(token && { authorization: `Bearer ${token}`, "idempotency-key": `example-${++sent}` }),
      },
      body: isForm ? body : JSON.stringify(body),
    });
    if (!response.ok)
      throw new Error(`POST /api${path} was answered with ${response.status}: ${await response.text()}`);
    return (response.status === 204 ? undefined : await response.json()) as T;
  };
  const signIn = async (admin: Credentials["admin"]) => {
    ({ token } = await post<{ token: string }>("/auth/login", admin));
  };
  return { post, signIn };
}

/** The workflow Refund with three runs. */
async function createRefund(post: Post): Promise<void> {
  // not `refund`: the README saves a definition of that name
  const definition = { type: "workflow", name: "refund_example", source: readFileSync(REFUND, "utf8") };
  const { id: definition_id } = await post<{ id: string }>("/definitions", definition);
  const workflow = await post<{ id: string }>("/workflows", { definition_id, name: "Refund (example)" });
  for (const args of ORDERS) await post(`/workflows/${workflow.id}/runs`, { args });
}

/** The collection Handbook with its documents, which are read in the background, and the agent that answers from it. */
async function createHandbook(post: Post, model: string | null): Promise<void> {
  const { id, slug } = await post<{ id: string; slug: string }>("/v1/knowledge/collections", COLLECTION);
  for (const name of DOCUMENTS) {
    const form = new FormData();
    form.set("file", new File([await readFile(new URL(name, EXAMPLES))], name));
    await post(`/v1/knowledge/collections/${id}/documents`, form);
  }
  await post("/agents", { ...AGENT, model, collections: [slug] });
}

/**
 * Creates the example shown to newcomers in the console: the workflow Refund with three runs, the collection Handbook and an agent.
 * Uses the public API at the service's address. May be repeated until it succeeds. Throws if the service refuses something.
 * @param model of the agent; null if none works without a provider.
 */
export async function seed(
  address: string,
  { admin }: Pick<Credentials, "admin">,
  model: string | null = "offline/extractive",
): Promise<void> {
  if (!existsSync(REFUND)) return;
  const { post, signIn } = openApi(address);
  await signIn(admin);
  await createRefund(post);
  await createHandbook(post, model);
  await post("/auth/logout", {});
}
