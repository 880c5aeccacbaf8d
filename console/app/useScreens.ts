import { useRole } from "../api/useRole.ts";
import { SCREENS } from "./screens.ts";

/** The screens that the person's role may see. */
export function useScreens() {
  const { isAdmin, isBuilder } = useRole();
  return SCREENS.filter((screen) => ("isForAdmins" in screen ? isAdmin : "isForBuilders" in screen ? isBuilder : true));
}
