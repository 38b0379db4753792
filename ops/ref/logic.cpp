#include "ops/ref/fn_logic.h"

#define TW_FAMILY_logic ~, TW_THIS_ROW
#define TW_ADD_FAMILY add_logic
#include "ops/ref/family.inc"
