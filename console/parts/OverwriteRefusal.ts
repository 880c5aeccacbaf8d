import type { LinkProps } from "@tanstack/react-router";

/** What is to be made is there already: saving would replace it without anybody having seen it. */
export class OverwriteRefusal extends Error {
  /** Leads to the form that shows and changes it. */
  readonly edit: LinkProps;

  /** `what`: "the group “legal”". */
  constructor(what: string, edit: LinkProps) {
    super(`Nothing was saved: ${what} is there already, and would be replaced.`);
    this.name = "OverwriteRefusal";
    this.edit = edit;
  }
}
