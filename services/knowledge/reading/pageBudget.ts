/** The port for counting recognized pages: text recognition takes a thousand times as long as reading text. */
export interface PageBudget {
  /** Takes pages of an organization's budget for today; resolves with how many there were, at most as many as are wanted. */
  take(organization_id: string, pages: number): Promise<number>;
  /** Gives back pages that were not recognized. */
  giveBack(organization_id: string, pages: number): Promise<void>;
}
