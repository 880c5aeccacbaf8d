import type { Credentials } from "../../cli/organization.ts";
import { openCommonPlatform } from "../sharedPlatform.ts";
import { openTenant } from "../workflows/tenant.ts";

interface Organizations {
  url: string;
  organization(name: string): Promise<Credentials>;
}

/** Two organizations of a platform, by default of the shared one. */
export async function openTwoTenants(platform?: Organizations) {
  const { url, organization } = platform ?? (await openCommonPlatform()).platform;
  const open = async (name: string) => openTenant(url, await organization(name));
  return { home: await open("Home"), foreign: await open("Foreign") };
}
