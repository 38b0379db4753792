#include "ops/ref/fn_logic.h"

#define TW_FAMILY_compare ~, TW_THIS_ROW
#define TW_ADD_FAMILY add_compare
#include "ops/ref/family.inc"
