import { BODY_EXAMPLES } from "#http/meta/examples.ts";
import { atEnd } from "../../cleanUp.ts";
import { openPlatform } from "../../sharedPlatform.ts";
import { openSite } from "../../tools/site.ts";
import { openTenant, type Client, type Tenant } from "../../workflows/tenant.ts";

export interface Answer {
  /** `method path` of the API description. */
  operation: string;
  status: number;
  body: any;
}

/** What a call needs beyond its operation. */
interface CallOptions {
  /** Values of the parameters in the path, in their order. */
  path?: string[];
  query?: string;
  /** Fields that replace those of the example, or the whole body. */
  body?: object | string;
  by?: Client;
  headers?: Record<string, string>;
}

const PAGE = "<h1>Refunds</h1><p>A refund takes five working days.</p>";
const HTML = { "content-type": "text/html" };

/** An organization that sends the example of each body, and keeps every answer that is JSON. */
export async function openDesk() {
  const site = await openSite((_request, response) => response.writeHead(200, HTML).end(PAGE));
  atEnd("file", () => site.close());
  const { platform, provider } = await openPlatform({ PRIVATE_FETCH_HOSTS: site.host });
  const credentials = await platform.organization("Example");
  const tenant = await openTenant(platform.url, credentials);
  const answers: Answer[] = [];

  const bodyOf = (operation: string, body: CallOptions["body"]): unknown => {
    if (operation.startsWith("get ") || operation.startsWith("delete ")) return undefined;
    if (body instanceof FormData || typeof body === "string") return body;
    const example = BODY_EXAMPLES[operation] as object | undefined;
    return example || body ? { ...example, ...body } : undefined;
  };

  /** Calls an operation. Throws unless it succeeds. */
  async function ask(operation: string, { path = [], query = "", body, by, headers }: CallOptions = {}): Promise<any> {
    const [method = "", template = ""] = operation.split(" ");
    const values = [...path];
    const address = template.replace(/\{\w+\}/g, () => values.shift()!).replace(/^\/api/, "");
    const call = by ?? tenant.owner;
    const answer = await call(method.toUpperCase(), address + query, bodyOf(operation, body), headers);
    if (answer.status >= 300) throw new Error(`${operation}: ${answer.status} ${answer.text}`);
    if (answer.body !== undefined) answers.push({ operation, status: answer.status, body: answer.body });
    return answer.body;
  }

  /** Calls it until its answer is enough. Only the last answer counts. */
  async function askUntil(operation: string, options: CallOptions, isEnough: (body: any) => boolean): Promise<any> {
    for (const end = Date.now() + 30_000; ; answers.pop()) {
      const body = await ask(operation, options);
      if (isEnough(body)) return body;
      if (Date.now() > end) throw new Error(`${operation} stays ${JSON.stringify(body)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return { platform, provider, site, tenant, credentials, answers, ask, askUntil };
}
export type Colleague = Awaited<ReturnType<Tenant["member"]>>;
export type Desk = Awaited<ReturnType<typeof openDesk>>;
