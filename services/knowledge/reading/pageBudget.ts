/** The port for counting recognized pages: text recognition takes a thousand times as long as reading text. */
export interface PageBudget {
  /** Takes pages from an organization's budget for today. Resolves with the number granted, at most `pages`. */
  take(organization_id: string, pages: number): Promise<number>;
  /** Gives back pages that were not recognized. */
  giveBack(organization_id: string, pages: number): Promise<void>;
}
