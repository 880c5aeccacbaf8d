import type { LinkProps } from "@tanstack/react-router";

/** The new item already exists. Saving would replace it although nobody has seen it. */
export class OverwriteRefusal extends Error {
  /** Links to the form that shows and changes it. */
  readonly edit: LinkProps;

  /** `what`: "the group “legal”". */
  constructor(what: string, edit: LinkProps) {
    super(`Nothing was saved: ${what} is there already, and would be replaced.`);
    this.name = "OverwriteRefusal";
    this.edit = edit;
  }
}
