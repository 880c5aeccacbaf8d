import type { Locator, Page } from "playwright-core";
import { beforeEach, expect } from "vitest";
import { takePicture } from "./browser.ts";

/* Tasks as people do them, counted: a choice in a list, a field that is filled and files that are dropped are one click each. */

export const link = (page: Page, name: string | RegExp) =>
  page.getByRole("link", typeof name === "string" ? { name, exact: true } : { name }).first();
export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Counts the clicks of each test of a file. */
export function countClicks() {
  let clicks = 0;
  beforeEach(() => {
    clicks = 0;
  });
  return {
    click: async (target: Locator): Promise<void> => {
      clicks++;
      await target.click();
    },
    enter: async (field: Locator, text: string): Promise<void> => {
      clicks++;
      await field.fill(text);
    },
    choose: async (list: Locator, label: string): Promise<void> => {
      clicks++;
      await list.selectOption(label);
    },
    drop: async (field: Locator, name: string, mimeType: string, text: string): Promise<void> => {
      clicks++;
      await field.setInputFiles({ name, mimeType, buffer: Buffer.from(text) });
    },
    back: async (page: Page): Promise<void> => {
      clicks++;
      await page.goBack();
    },
    total: () => clicks,
    /** The end of a task: its picture, and that it took no more clicks. */
    done: async (page: Page, name: string, most: number): Promise<void> => {
      await takePicture(page, `task-${name}`);
      expect(clicks, name).toBeLessThanOrEqual(most);
    },
  };
}
