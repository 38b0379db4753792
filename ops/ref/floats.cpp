#include "ops/ref/fn_floats.h"

#define TW_FAMILY_floats ~, TW_THIS_ROW
#define TW_ADD_FAMILY add_floats
#include "ops/ref/family.inc"
