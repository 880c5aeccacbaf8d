import { useRole } from "../api/useRole.ts";
import { SCREENS } from "./screens.ts";

/** The screens that the person's role may see. */
export function useScreens() {
  const { isAdmin, isBuilder, isApprover } = useRole();
  return SCREENS.filter((screen) => {
    // Home sends approvers to their inbox
    if (screen.to === "/") return !isApprover;
    return "isForAdmins" in screen ? isAdmin : "isForBuilders" in screen ? isBuilder : true;
  });
}
