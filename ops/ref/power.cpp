#include "ops/ref/fn_power.h"

#define TW_FAMILY_power ~, TW_THIS_ROW
#define TW_ADD_FAMILY add_power
#include "ops/ref/family.inc"
