import type { Credentials } from "../../cli/organization.ts";
import { fileForm, say } from "../http/service.ts";
import { openPlatform } from "../sharedPlatform.ts";
import { openTenant, type Client, type Tenant } from "../workflows/tenant.ts";

interface Organizations {
  url: string;
  organization(name: string): Promise<Credentials>;
}

/** Two organizations of a platform, by default of the shared one. */
export async function openTwoTenants(platform?: Organizations) {
  const { url, organization } = platform ?? (await openPlatform()).platform;
  const open = async (name: string) => openTenant(url, await organization(name));
  return { home: await open("Home"), foreign: await open("Foreign") };
}

/** Creates chats and files, of an external user if one is named. */
export const belongings = ({ made }: Tenant) => ({
  say: (by: Client, text: string, more: Record<string, unknown> = {}) =>
    made(by("POST", "/openai/v1/chat/completions", say(text, more))),
  async upload(by: Client, content: string, user?: string): Promise<string> {
    const form = fileForm(content, "note.md", { type: "", fields: user === undefined ? {} : { user } });
    return (await made(by("POST", "/openai/v1/files", form))).id;
  },
});
